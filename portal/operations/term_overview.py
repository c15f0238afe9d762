"""What an admin sees of a term: its windows, whom they are for, and how they go."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Select, func, select

from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.models import Term
from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.core.sorting import Sorting
from portal.ledger.types import WindowView
from portal.operations.figures import ready
from portal.recorder import read_with_fallback
from portal.recorder.models import LoggedEvent
from portal.waiting_room import room
from portal.windows import cohorts, readiness
from portal.windows.coverage import coverage_by_group
from portal.windows.phases import Phase, phase
from portal.windows.timeline import timeline

# What sorts the windows of a term.
SORTS: dict[str, Callable[[WindowView], Any]] = {
    "begins": lambda window: window.opens,
    "ends": lambda window: window.closes,
    "name": lambda window: window.name.casefold(),
}

PROGRESS_FRESH_SECONDS = 3.0
EVENTS_OF = {
    "seats": ("enrolled", "promoted"),
    "waits": ("waitlisted",),
    "drops": ("dropped",),
    "refused": ("refused",),
}


@dataclass(frozen=True)
class ScheduledWindow:
    """A window as an admin sees it."""

    window: WindowView
    phase: Phase
    cohort: str
    students: int

    @property
    def counted(self) -> bool:
        """Return whether the cohort's text includes its number of students: only a list's does."""
        cohort = {kind: some for kind, some in self.window.cohort.items() if some}
        return cohort.keys() == {"list"} and cohort["list"]["students"] == self.students

    @property
    def canceled(self) -> bool:
        """Return whether it was canceled before it began."""
        return self.window.state == "canceled"

    @property
    def over(self) -> bool:
        """Return whether it has ended or was canceled."""
        return self.canceled or self.phase.kind == "ended"


def scheduled(window: WindowView, now: int) -> ScheduledWindow:
    """Return the window as an admin sees it, with the number of students in its cohort."""
    with transaction() as session:
        students = cohorts.count_students(session, window.cohort)
    return ScheduledWindow(
        window, phase([window], now), cohort_names.describe(window.cohort), students
    )


def overview(term: Term, sorting: Sorting) -> dict[str, Any]:
    """Return what the page shows of a term and its windows."""
    windows, now = read_with_fallback.windows(term.id), read_with_fallback.now()
    recorded = read_with_fallback.recorded()
    with_rooms = backend().settings.room is not None and not recorded
    ordered = sorted(windows, key=SORTS[sorting.key], reverse=sorting.down)
    shown = [scheduled(window, now) for window in ordered]
    over = [each for each in shown if each.over]
    with transaction() as session:
        lanes = coverage_by_group(session, windows) if windows else []
        students = readiness.count_students(session)
    return {
        "term": term,
        "phase": phase(windows, now),
        "windows": shown,
        "coming": [each for each in shown if not each.over],
        # Unless another order is asked for, what ended last is of most interest.
        "over": over if sorting.args() else over[::-1],
        "timeline": timeline(windows, now, backend().settings.zone, lanes),
        "lanes": lanes,
        # Students who have two windows open at once, now or later.
        "doubled": sum(lane.doubled(now) for lane in lanes),
        # By window: its counts, and its waiting room, which is None if off or unavailable.
        "running": {
            each.window.id: {
                "room": room.state(term.id, each.window.id) if with_rooms else None,
                "tally": _progress_of(term.id, each.window),
            }
            for each in shown
            if not each.over
        },
        "ready": None if recorded else ready(term.id, students),
    }


def content_mark(overviews: Sequence[dict[str, Any]]) -> str:
    """Return a hash of everything on the page except the figures and the time left."""
    shown = [
        (shown_term["term"].id, shown_term["term"].name, each.phase.kind, asdict(each.window))
        for shown_term in overviews
        for each in shown_term["windows"]
    ]
    ids = [(each["term"].id, each["term"].state) for each in overviews]
    return sha256(repr([shown, ids]).encode()).hexdigest()[:16]


# The progress of a window, counted from the event log; only new events are read.


class Progress(NamedTuple):
    """Seats given, waitlist joins, drops and refusals, as of event `seq`."""

    seq: int = 0
    seats: int = 0
    waits: int = 0
    drops: int = 0
    refused: int = 0


def _progress_of(term: int, window: WindowView) -> Progress:
    """Return the progress, a few seconds old; the last known one while PostgreSQL is down."""
    key = (term, window.id)
    with suppress(*AWAY):
        return _known.get(key)
    return _known.peek(key) or Progress()


def read_progress(key: tuple[int, int]) -> Progress:
    """Return the current progress: the known one plus later events."""
    term, window = key
    before = _known.peek(key) or Progress()
    during = LoggedEvent.context["during"].as_integer() == window
    counts = [
        func.count().filter(during, LoggedEvent.name.in_(names)).label(kind)
        for kind, names in EVENTS_OF.items()
    ]
    with transaction() as session:
        after = before.seq or session.scalar(_opened(window)) or 0
        latest = select(func.max(LoggedEvent.seq), *counts)
        last, *more = session.execute(
            latest.where(LoggedEvent.term_id == term, LoggedEvent.seq > after)
        ).one()
    return Progress(last or after, *(one + new for one, new in zip(before[1:], more, strict=True)))


def _opened(window: int) -> Select[int]:
    """Return the query for the event that opened a window."""
    of_window = LoggedEvent.aggregate == f"window:{window}"
    return select(LoggedEvent.seq).where(of_window, LoggedEvent.name == "window_opened")


_known = Cache(read_progress, PROGRESS_FRESH_SECONDS)
