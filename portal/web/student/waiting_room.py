"""The gate as a student meets it: whether others come first, and what a page says of the line."""

from dataclasses import dataclass
from functools import cached_property
from threading import Lock

from cachetools import TTLCache, cached
from flask import g, session

from portal.backend import backend
from portal.registration import limits
from portal.registration.plans import Plan
from portal.waiting_room import room, wait_estimates
from portal.waiting_room.admission import FREE, Admission
from portal.waiting_room.room import QueueEntry, RoomState, WindowEnded
from portal.waiting_room.wait_estimates import NEVER, Pace, WaitRange
from portal.web.http import admission
from portal.web.http.access import visitor
from portal.web.http.request_info import is_prefetch
from portal.web.student.student_term import StudentTerm
from portal.windows import draw_seeds

FRESH_SECONDS = 1
LEFT = "left"  # in the session: the window whose line was left on purpose
SOONEST_MS, LATEST_MS = 500, 4000  # after an opening, until a page asks how it stands
SHORTEST, LONGEST = 12, 45
BY_PLACE_MS = 10  # by which that is later for each who came before


@dataclass(frozen=True)
class WaitingRoomStatus:
    """How a student stands at the gate of a window, as pages show it."""

    scene: StudentTerm
    visit: Admission = FREE

    @property
    def term(self) -> int:
        return self.scene.term.id

    @property
    def window(self) -> int:
        """The one that the visit is for, of several that may be open."""
        if self.visit.token:
            return self.visit.token.window
        return self.scene.phase.window.id if self.scene.phase.window else 0

    @property
    def kind(self) -> str:
        return self.visit.kind

    @property
    def place(self) -> QueueEntry | None:
        return self.visit.entry

    @property
    def inside(self) -> bool:
        """Whether nothing keeps the visitor from claiming seats."""
        return self.kind in {"free", "in"}

    @property
    def until(self) -> int:
        """When the visit ends unless it is renewed (ms); 0 where that makes no difference."""
        held = self.visit.token
        return held.ends if held and has_waiting_rooms() else 0

    @property
    def offered(self) -> bool:
        """Whether there is a line to get in: before the opening, and where others wait."""
        line = self.scene.phase.kind == "before" or self.place is not None
        return self.kind == "out" and has_waiting_rooms() and line

    @property
    def auto(self) -> bool:
        """Whether the page gets in by itself, as it was not left on purpose."""
        return self.offered and session.get(LEFT) != self.window

    @property
    def paused(self) -> bool:
        """Whether an admin has paused the line."""
        return self.place is not None and self.place.room.paused

    @property
    def others(self) -> int:
        """How many wait while the visitor is in."""
        return room_of(self.term, self.window).waiting if self.until else 0

    @property
    def commitment(self) -> str:
        """What has been published of the seed that gives the order of those who come early."""
        return draw_seeds.commitment(self.term, self.window)

    @property
    def asks(self) -> tuple[int, int]:
        """Between which moments (ms) after the opening a page asks how it stands, by chance."""
        before = self.place.room.line if self.place else LATEST_MS
        return SOONEST_MS, min(LATEST_MS, SOONEST_MS + BY_PLACE_MS * before)

    @cached_property
    def long(self) -> WaitRange:
        """How long it takes until one is called."""
        return wait_estimates.estimate(self.place) if self.place else WaitRange(0, NEVER)

    @cached_property
    def per_place(self) -> Pace:
        """The shortest and the longest time (ms) that each place before takes."""
        return wait_estimates.per_place(self.place.room) if self.place else Pace(0, NEVER)

    @cached_property
    def poll(self) -> int:
        """Seconds after which a page that hears nothing is to ask again."""
        return round(wait_estimates.poll_interval(self.place)) if self.place else 0

    @property
    def reload(self) -> int:
        """Seconds after which a page without scripts does: in time for who is called to come."""
        return min(LONGEST, max(SHORTEST, self.poll))


def status_on_page(now: StudentTerm, plan: Plan | None = None) -> WaitingRoomStatus:
    """How the visitor stands as a page is drawn; where others come first, in line from now on.

    Where nobody does, only whoever is shown a plan to submit is let in. Who left on purpose stays
    out, and so does a page that a browser asks for ahead of its reader.
    """
    stands = current_status(now)
    out = stands.kind == "out" and now.phase.kind == "open"
    if not out or session.get(LEFT) == stands.window or is_prefetch():
        return stands
    shown = plan or now.plan
    return enter(now) if stands.place or (shown and shown.choices) else stands


def current_status(now: StudentTerm) -> WaitingRoomStatus:
    """How the visitor stands, without getting in line."""
    if "line" not in g:
        g.line = _noted(
            WaitingRoomStatus(now, admission.look_up(now.term.id, now.phase, visitor()))
        )
    stands: WaitingRoomStatus = g.line
    return stands


def enter(now: StudentTerm) -> WaitingRoomStatus:
    """In line, or in where nobody is ahead."""
    session.pop(LEFT, None)
    try:
        g.line = _noted(WaitingRoomStatus(now, admission.enter(now.term.id, now.phase, visitor())))
    except WindowEnded:  # within the second for which pages go by the windows they have read
        limits.forget_windows()
        g.line = WaitingRoomStatus(now)
    stands: WaitingRoomStatus = g.line
    return stands


def leave(now: StudentTerm) -> WaitingRoomStatus:
    """Out of the line, or in no more; and not in again by itself."""
    window, student = current_status(now).window, visitor().student_id or 0
    if not window:
        return WaitingRoomStatus(now)
    session[LEFT] = window
    admission.forget_token()  # looking may have renewed it
    room.leave(now.term.id, window, student)
    place = room.look(now.term.id, window, student)
    return WaitingRoomStatus(now, Admission("out", place if place.room.full else None))


def has_waiting_rooms() -> bool:
    """Whether there are waiting rooms."""
    return backend().settings.room is not None


@cached(TTLCache(maxsize=64, ttl=FRESH_SECONDS), lock=Lock())
def room_of(term: int, window: int) -> RoomState:
    """How a waiting room stands, a second old at most."""
    return room.state(term, window)


def _noted(line: WaitingRoomStatus) -> WaitingRoomStatus:
    """The same; the range that it shows is kept, to be compared with what comes true."""
    if line.kind == "waiting" and line.place and line.long.most < NEVER:
        entry, wait = line.place, line.long
        room.record_estimate(line.term, line.window, entry.request, wait.least, wait.most)
    return line
