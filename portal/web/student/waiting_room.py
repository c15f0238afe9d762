"""The waiting room on a student's pages: whether others come first, and the queue's status."""

from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import cast

from cachetools import TTLCache, cached
from flask import g, session

from portal.backend import backend
from portal.registration import limits
from portal.registration.plans import Plan
from portal.waiting_room import room, wait_estimates, wording
from portal.waiting_room.admission import FREE, Admission
from portal.waiting_room.room import QueueEntry, RoomState, WindowEnded
from portal.waiting_room.wait_estimates import NEVER, Pace, WaitRange
from portal.web.http import admission
from portal.web.http.access import visitor
from portal.web.http.request_info import is_prefetch
from portal.web.student.student_term import StudentTerm
from portal.windows import draw_seeds, phases

FRESH_SECONDS = 1
LEFT = "left"  # session key: the window whose queue the student left
SOONEST_MS, LATEST_MS = 500, 4000  # after an opening, until a page asks for its status
SHORTEST, LONGEST = 12, 45
URGENT_SECONDS = 3600  # as in static/js/countdown.js
BY_PLACE_MS = 10  # added to that delay for each student ahead


@dataclass(frozen=True)
class WaitingRoomStatus:
    """A student's status in a window's waiting room, as pages show it."""

    student_term: StudentTerm
    visit: Admission = FREE

    @property
    def term(self) -> int:
        return self.student_term.term.id

    @property
    def window(self) -> int:
        """Return the window of the visit; several may be open."""
        if self.visit.token:
            return self.visit.token.window
        return self.student_term.phase.window.id if self.student_term.phase.window else 0

    @property
    def kind(self) -> str:
        return self.visit.kind

    @property
    def place(self) -> QueueEntry | None:
        return self.visit.entry

    @property
    def inside(self) -> bool:
        """Return whether the visitor is admitted and may claim seats."""
        return self.kind in {"free", "in"}

    @property
    def until(self) -> int:
        """Return when the visit ends unless it is renewed (ms); 0 if it has no end."""
        held = self.visit.token
        return held.ends if held and has_waiting_rooms() else 0

    @property
    def offered(self) -> bool:
        """Return whether there is a queue to join: before the opening, and while others wait."""
        queue = self.student_term.phase.kind == "before" or self.place is not None
        return self.kind == "out" and has_waiting_rooms() and queue

    @property
    def auto(self) -> bool:
        """Return whether the page joins automatically: not after the student left on purpose."""
        return self.offered and session.get(LEFT) != self.window

    @property
    def left(self) -> bool:
        """Return whether the student left the queue on purpose while others wait."""
        return self.offered and self.student_term.phase.kind == "open" and not self.auto

    @property
    def paused(self) -> bool:
        """Return whether an admin has paused the queue."""
        return self.place is not None and self.place.room.paused

    @property
    def others(self) -> int:
        """Return how many wait while the visitor is admitted."""
        return room_of(self.term, self.window).waiting if self.until else 0

    @property
    def last(self) -> int:
        """Return when the visit must end as others wait (ms); 0 if it may last."""
        return self.place.last if self.place and self.others else 0

    @property
    def deadline(self) -> int:
        """Return until when the student can add classes (ms), or drop some if it is too late.

        The visit ends, the last day to add, or the window.
        """
        window = self.student_term.phase.window
        ends = (self.last, self.student_term.adding_ends, window.closes if window else 0)
        return min(filter(None, ends), default=0)

    @property
    def seconds(self) -> int:
        """Return the seconds until the phase ends for the student; 0 if it does not end."""
        now = self.student_term.phase
        return -(-(self.deadline - now.now) // 1000) if now.kind == "open" else now.seconds

    @property
    def urgent(self) -> bool:
        """Return whether minutes count, or others come first: then the banner is large."""
        return 0 < self.seconds <= URGENT_SECONDS or self.kind == "waiting"

    @property
    def brief(self) -> str:
        """Return the number of the banner: the place in the queue, or the time that is left."""
        if self.kind == "waiting" and self.place:
            return wording.grouped(self.place.position)
        phase = self.student_term.phase
        return phases.brief(phase.kind, self.seconds) if phase.turns else ""

    @property
    def passing(self) -> bool:
        """Return whether only the captcha is below the banner, and nothing once it is passed."""
        alone = self.kind == "unproven" and self.student_term.phase.kind == "open"
        return alone and not (has_waiting_rooms() and room_of(self.term, self.window).waiting)

    @property
    def commitment(self) -> str:
        """Return the published commitment to the seed that orders early requests."""
        return draw_seeds.commitment(self.term, self.window)

    @property
    def asks(self) -> tuple[int, int]:
        """Return the time range (ms after the opening) in which a page asks, at random."""
        before = self.place.room.line if self.place else LATEST_MS
        return SOONEST_MS, min(LATEST_MS, SOONEST_MS + BY_PLACE_MS * before)

    @cached_property
    def long(self) -> WaitRange:
        """Return the wait estimate."""
        return wait_estimates.estimate(self.place) if self.place else WaitRange(0, NEVER)

    @cached_property
    def per_place(self) -> Pace:
        """Return the shortest and the longest time (ms) for each place ahead."""
        return wait_estimates.per_place(self.place.room) if self.place else Pace(0, NEVER)

    @cached_property
    def poll(self) -> int:
        """Return the seconds after which a page without live updates asks again."""
        return round(wait_estimates.poll_interval(self.place)) if self.place else 0

    @property
    def reload(self) -> int:
        """Return the seconds until a page without scripts reloads, in time for an admission."""
        return min(LONGEST, max(SHORTEST, self.poll))


def status_on_page(now: StudentTerm, plan: Plan | None = None) -> WaitingRoomStatus:
    """Return the visitor's status for a page, and join the queue if others come first.

    If no one is ahead, admit only a student who sees a plan to submit. A student who left on
    purpose stays out. A page that the browser prefetches does not join.
    """
    stands = current_status(now)
    out = stands.kind == "out" and now.phase.kind == "open"
    if not out or session.get(LEFT) == stands.window or is_prefetch():
        return stands
    shown = plan or now.plan
    return enter(now) if stands.place or (shown and shown.choices) else stands


def current_status(now: StudentTerm) -> WaitingRoomStatus:
    """Return the visitor's status without joining the queue."""
    if "waiting_room_status" not in g:
        _note(now, admission.look_up(now.term.id, now.phase, visitor()))
    return cast("WaitingRoomStatus", g.waiting_room_status)


def enter(now: StudentTerm) -> WaitingRoomStatus:
    """Join the queue, or get in if no one is ahead."""
    session.pop(LEFT, None)
    try:
        return _note(now, admission.enter(now.term.id, now.phase, visitor()))
    except WindowEnded:  # pages may use windows that are up to a second old
        limits.forget_windows()
        return _note(now, FREE)


def leave(now: StudentTerm) -> WaitingRoomStatus:
    """Leave the queue or end the visit; do not join automatically again."""
    window, student = current_status(now).window, visitor().student_id or 0
    if not window:
        return WaitingRoomStatus(now)
    session[LEFT] = window
    admission.forget_token()  # looking up the status may have renewed it
    room.leave(now.term.id, window, student)
    entry = room.queue_entry(now.term.id, window, student)
    return WaitingRoomStatus(now, Admission("out", entry if entry.room.full else None))


def has_waiting_rooms() -> bool:
    return backend().settings.room is not None


@cached(TTLCache(maxsize=64, ttl=FRESH_SECONDS), lock=Lock())
def room_of(term: int, window: int) -> RoomState:
    """Return the state of a waiting room, at most a second old."""
    return room.state(term, window)


def _note(now: StudentTerm, visit: Admission) -> WaitingRoomStatus:
    """Return the status of a visit; record its wait estimate, to compare it with the real wait."""
    status = g.waiting_room_status = WaitingRoomStatus(now, visit)
    if status.kind == "waiting" and status.place and status.long.most < NEVER:
        entry, wait = status.place, status.long
        room.record_estimate(status.term, status.window, entry.request, wait.least, wait.most)
    return status
