"""The queue of a window for one student, with or without waiting rooms."""

import hashlib
from dataclasses import dataclass, replace

from portal.ledger.types import WindowView
from portal.people.visitors import Visitor
from portal.waiting_room import admission, room
from portal.waiting_room.access_tokens import AccessToken
from portal.waiting_room.admission import Applicant, without_rooms
from portal.waiting_room.room import QueueEntry, WindowEnded
from portal.windows.phases import phase


@dataclass(frozen=True)
class Queue:
    """The queue of a window for one student; without waiting rooms it admits everyone."""

    term: int
    window: WindowView
    who: Visitor

    @property
    def student(self) -> int:
        return self.who.student_id or 0

    def look_up(self) -> QueueEntry | None:
        """Return the student's place, if any; this also shows that the student is still waiting."""
        if without_rooms():
            return self._entry_without_room()
        found = room.queue_entry(self.term, self.window.id, self.student)
        return None if found.kind in {"none", "gone"} else found

    def enter(self) -> QueueEntry:
        """Return the student's place, old or new. Raise WindowEnded."""
        if not without_rooms():
            return room.enter(self.term, self.window.id, self.student)
        found = self._entry_without_room()
        if found is None:
            raise WindowEnded("ended")
        return found

    def access_token(self, entry: QueueEntry) -> AccessToken | None:
        """Return an access token, new or renewed, if it is the student's turn."""
        if entry.kind != "called":
            return None
        now = phase([self.window], entry.room.at)
        applicant = Applicant(self.who.id, self.student)
        return admission.issue(self.term, now, applicant, in_room=not without_rooms())

    def _entry_without_room(self) -> QueueEntry | None:
        """Admit everyone at the opening; the id follows from account and window."""
        state = replace(room.state(self.term, self.window.id), off=True)
        if state.phase not in {"before", "open"}:
            return None
        text = f"request {self.who.id} {self.window.id}"
        request = hashlib.sha256(text.encode()).hexdigest()[:32]
        return QueueEntry("early" if state.phase == "before" else "called", state, request=request)
