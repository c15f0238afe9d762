"""Who may register now, who has to wait, and when an access token is issued."""

import hashlib
from dataclasses import dataclass, replace
from time import time
from typing import Literal

from portal.backend import backend
from portal.ledger.types import WindowView
from portal.people.visitors import Visitor
from portal.waiting_room import room
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from portal.waiting_room.room import QueueEntry, WindowEnded
from portal.windows import phases
from portal.windows.phases import Phase

# free: no gate. in: with an access token. out: not in the queue. early, waiting: in the queue.
# unproven: the captcha comes first.
Kind = Literal["free", "in", "out", "early", "waiting", "unproven"]


@dataclass(frozen=True)
class Applicant:
    """A student who wants to register, with the token and proof in their request."""

    account: int
    student: int
    token: AccessToken | None = None  # valid for this account
    proven: bool = True  # the captcha is solved, or is not needed


@dataclass(frozen=True)
class Admission:
    """The state of a student who wants to register in a window."""

    kind: Kind
    entry: QueueEntry | None = None
    token: AccessToken | None = None

    @property
    def waits(self) -> bool:
        return self.kind in {"early", "waiting"}


FREE = Admission("free")


def look_up(term: int, phase: Phase, who: Applicant) -> Admission:
    """Return the student's state without joining the queue."""
    if phase.kind not in {"before", "open"} or not phase.window:
        return FREE
    token = who.token if who.token and who.token.term == term else None
    if token and _without_rooms():
        return Admission("in", token=token)
    if token:  # for any window: several may be open to one; the student may have left it elsewhere
        entry = room.queue_entry(term, token.window, who.student)
        if entry.kind == "called":
            return Admission("in", entry, _renewed(token, who))
    if not who.proven:
        return Admission("unproven")
    if _without_rooms():
        return _admit(term, phase, who) if phase.kind == "open" else Admission("out")
    return _of_entry(term, phase, who, room.queue_entry(term, phase.window.id, who.student))


def enter(term: int, phase: Phase, who: Applicant) -> Admission:
    """Join the queue, or be admitted if it is empty; raise WindowEnded."""
    now = look_up(term, phase, who)
    if now.kind != "out" or not phase.window or _without_rooms():
        return now
    return _of_entry(term, phase, who, room.enter(term, phase.window.id, who.student))


def _issue(term: int, phase: Phase, who: Applicant, *, in_room: bool) -> AccessToken | None:
    """Return an access token until the stay in the room ends, or the window where there is none.

    None where the room does not let the student stay.
    """
    window = phase.window
    if window is None:
        return None
    ends = room.extend_stay(term, window.id, who.student) if in_room else window.closes
    return AccessToken(who.account, term, window.id, min(window.closes, ends)) if ends else None


def _without_rooms() -> bool:
    """Return whether windows have no waiting rooms: everyone is admitted at the opening."""
    return backend().settings.room is None


def _of_entry(term: int, phase: Phase, who: Applicant, entry: QueueEntry) -> Admission:
    if entry.kind == "called":
        return _admit(term, phase, who, entry)
    if entry.kind in {"early", "waiting"}:
        return Admission("early" if entry.kind == "early" else "waiting", entry)
    return Admission("out", entry if entry.room.full else None)


def _admit(term: int, phase: Phase, who: Applicant, entry: QueueEntry | None = None) -> Admission:
    token = _issue(term, phase, who, in_room=entry is not None)
    return Admission("in", entry, token) if token else Admission("out")


def _renewed(token: AccessToken, who: Applicant) -> AccessToken:
    """Return the token; once half of its time is over, a new one."""
    if token.ends - time() * 1000 > LIFETIME / 2:
        return token
    ends = room.extend_stay(token.term, token.window, who.student)
    return replace(token, ends=ends) if ends and ends > token.ends else token


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
        if _without_rooms():
            return self._entry_without_room()
        found = room.queue_entry(self.term, self.window.id, self.student)
        return None if found.kind in {"none", "gone"} else found

    def enter(self) -> QueueEntry:
        """Return the student's place, old or new. Raise WindowEnded."""
        if not _without_rooms():
            return room.enter(self.term, self.window.id, self.student)
        found = self._entry_without_room()
        if found is None:
            raise WindowEnded("ended")
        return found

    def access_token(self, entry: QueueEntry) -> AccessToken | None:
        """Return an access token, new or renewed, if it is the student's turn."""
        if entry.kind != "called":
            return None
        now = phases.phase([self.window], entry.room.at)
        applicant = Applicant(self.who.id, self.student)
        return _issue(self.term, now, applicant, in_room=not _without_rooms())

    def _entry_without_room(self) -> QueueEntry | None:
        """Admit everyone at the opening; the id follows from account and window."""
        state = replace(room.state(self.term, self.window.id), off=True)
        if state.phase not in {"before", "open"}:
            return None
        text = f"request {self.who.id} {self.window.id}"
        request = hashlib.sha256(text.encode()).hexdigest()[:32]
        return QueueEntry("early" if state.phase == "before" else "called", state, request=request)
