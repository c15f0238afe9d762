"""A student's place at the gate of a window, with a waiting room or without one."""

import hashlib
import math
from dataclasses import dataclass, replace
from threading import Lock

from cachetools import LRUCache, cached

from portal.backend import backend
from portal.catalog.term_catalog import live_terms
from portal.ledger.types import WindowView
from portal.people.accounts import Visitor
from portal.people.profile import profile
from portal.seats import desk
from portal.waiting_room import room, wait_estimates
from portal.waiting_room.access_tokens import AccessToken
from portal.waiting_room.room import QueueEntry, WindowShut
from portal.web.http import admission
from portal.windows.phases import phase

SECOND = 1000


@dataclass(frozen=True)
class Door:
    """A window, and the student who wants to claim in it."""

    term: int
    window: WindowView
    who: Visitor

    @property
    def student(self) -> int:
        return self.who.student_id or 0

    def look(self) -> QueueEntry | None:
        """The student's place, if there is one; a sign of life of whoever waits."""
        if _no_room():
            return self._without_room()
        found = room.look(self.term, self.window.id, self.student)
        return None if found.kind in {"none", "gone"} else found

    def enter(self) -> QueueEntry:
        """The student's place, the one there was or a new one; raises WindowShut."""
        if _no_room():
            found = self._without_room()
            if found is None:
                raise WindowShut("ended")
            return found
        return room.enter(self.term, self.window.id, self.student)

    def access(self, place: QueueEntry) -> AccessToken | None:
        """The pass of one whose turn it is, given or renewed."""
        if place.kind != "called":
            return None
        now = phase([self.window], place.room.at)
        return admission.issue(self.term, now, self.who, None if _no_room() else place)

    def _without_room(self) -> QueueEntry | None:
        """Everyone is called at the opening, under a number that follows from who asks."""
        stands = replace(room.state(self.term, self.window.id), off=True)
        if stands.phase not in {"before", "open"}:
            return None
        request = _derived(self.who.id, self.window.id)
        return QueueEntry(
            "early" if stands.phase == "before" else "called", stands, request=request
        )


def door(window: int, who: Visitor) -> Door:
    """The door of a window that the student is let through; raises LookupError for any other."""
    term = _term_of(window)
    mine = desk.windows_of(profile(who.student_id or 0), term)
    found = next((each for each in mine if each.id == window), None)
    if found is None:
        raise LookupError(window)
    return Door(term, found, who)


def seconds(place: QueueEntry) -> tuple[int, int | None]:
    """The shortest and the longest wait for one's turn; None where nobody can say."""
    if place.kind == "called":
        return 0, 0
    expected = wait_estimates.estimate(place)
    longest = None if expected.most >= wait_estimates.NEVER else expected.most // SECOND
    return expected.least // SECOND, longest


def again(place: QueueEntry, held: AccessToken | None) -> int:
    """After how many seconds to ask again: halfway to the end of a pass, which renews it."""
    if held:
        return max(1, (held.ends - place.room.at) // 2 // SECOND)
    return math.ceil(wait_estimates.poll_interval(place))


def _derived(account: int, window: int) -> str:
    """A request id that always stands for the same account and window, where none is kept."""
    return hashlib.sha256(f"request {account} {window}".encode()).hexdigest()[:32]


@cached(LRUCache(maxsize=1000), lock=Lock())
def _term_of(window: int) -> int:
    for term in live_terms():
        if any(each.id == window for each in desk.windows(term.id)):
            return term.id
    raise LookupError(window)


def _no_room() -> bool:
    return backend().settings.room is None
