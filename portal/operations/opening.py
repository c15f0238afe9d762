"""What an admin watches while one window opens."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

from portal.backend import backend
from portal.core.db import transaction
from portal.core.latency import AnswerTimes, answer_times
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import translate_errors
from portal.ledger.tally import Tally, tally
from portal.ledger.types import WindowView
from portal.operations import figures
from portal.operations.alarms import Alarm, opening_alarms
from portal.operations.figures import Figures, Ready, TermNow, WindowNow
from portal.operations.rehearsal.report import Rehearsal, last_rehearsal
from portal.recorder.status import Lags
from portal.waiting_room import room
from portal.windows import readiness
from portal.windows.phases import phase

ORDER = ("open", "before", "ended")
STEPS = (1, 2, 5)  # the ends of axes, and ten, a hundred … times as much
LEAST_SEATS, LEAST_TIME = 10, 200  # the shortest axes, so that little does not look like much


@dataclass(frozen=True)
class MinuteChart:
    """An amount for each minute, by its begin (ms); None if there is none to tell."""

    points: Sequence[tuple[int, int | None]]
    least: int  # the shortest axis

    @property
    def top(self) -> int:
        """Return the end of the axis: a round number that is not below any amount."""
        most = max(self.least, *(amount or 0 for _, amount in self.points))
        ends = (step * int(10**power) for power in count() for step in STEPS)
        return next(end for end in ends if end >= most)


@dataclass(frozen=True)
class Opening:
    """A window and the figures of its opening; those that are unavailable are None."""

    now: WindowNow
    ready: Ready | None
    tally: Tally
    answers: AnswerTimes
    unrecorded: int | None  # events of the term
    lag: Lags | None
    alarms: Sequence[Alarm]
    others: Sequence[tuple[TermNow, WindowNow]]  # all windows that are open, next or just ended

    @property
    def seats(self) -> MinuteChart:
        return MinuteChart(self.tally.seats_by_minute, LEAST_SEATS)

    @property
    def slow_answers(self) -> MinuteChart:
        """Return the 95th percentile of the response time in each minute, in ms."""
        minutes = self.answers.by_minute
        return MinuteChart([(at, each.p95 if each else None) for at, each in minutes], LEAST_TIME)


@dataclass(frozen=True)
class Advised:
    """The last rehearsal, and how many web processes run now."""

    rehearsal: Rehearsal | None
    processes: int


def read_opening(term: int, window: WindowView) -> Opening:
    """Return the figures of a window; raise LedgerUnavailable."""
    found, redis = figures.read_figures(), backend().redis
    at = backend().ledger.now()
    state = room.state(term, window.id) if backend().settings.room else None
    now = WindowNow(window, phase([window], at), state)
    of_term = next((each for each in found.terms or () if each.term.id == term), None)
    ready = of_term.ready if of_term else None
    with translate_errors():
        answers = answer_times(redis, at)
    return Opening(
        now=now,
        ready=ready,
        tally=tally(backend().ledger, [term], at, window.id),
        answers=answers,
        unrecorded=found.stored.unrecorded(of_term) if found.stored and of_term else None,
        lag=found.stored.lag if found.stored else None,
        alarms=opening_alarms(found, now, ready, answers.last_minute),
        others=_windows(found),
    )


def advised() -> Advised:
    """Return the last rehearsal, as far as PostgreSQL answers; raise LedgerUnavailable."""
    return Advised(figures.or_none(_last_rehearsal), len(readiness.processes()))


def current() -> tuple[TermNow, WindowNow] | None:
    """Return the window to watch: the one that opened last, else the next, else the last.

    Raise LedgerUnavailable.
    """
    found = figures.read_figures()
    if found.terms is None:
        raise LedgerUnavailable
    return min(_windows(found), key=_urgency, default=None)


def _last_rehearsal() -> Rehearsal | None:
    with transaction() as session:
        return last_rehearsal(session)


def _urgency(found: tuple[TermNow, WindowNow]) -> tuple[int, int, int]:
    """Return the key that sorts windows; of those that open together, the newest comes first."""
    _term, now = found
    opens = now.window.opens
    by_time = opens if now.phase.kind == "before" else -opens
    return ORDER.index(now.phase.kind), by_time, -now.window.id


def _windows(found: Figures) -> list[tuple[TermNow, WindowNow]]:
    return [(term, now) for term in found.terms or () for now in term.windows]
