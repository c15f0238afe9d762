"""How the portal runs right now, the same from whichever process it is asked.

What is away leaves a gap (None): the page is most wanted when something is broken.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from redis.exceptions import RedisError
from sqlalchemy.exc import SQLAlchemyError

from portal.admin.operations.emptying import Emptying, emptying
from portal.admin.operations.remembered import Remembered, remembered
from portal.admin.windows.ready import Ready, ready
from portal.backend import backend
from portal.catalog.models import Term
from portal.catalog.term_catalog import live_terms
from portal.core.outage import postgresql
from portal.exchange.importing.progress import Step, step_of
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.tally import Tally, tally
from portal.ledger.types import WindowView
from portal.ops import breaking, crew, dead, scaling
from portal.ops.breaking import Said
from portal.ops.crew import Manned
from portal.ops.dead import DeadLetter
from portal.ops.scaling import Asked, Pool
from portal.recorder.consistency import fence
from portal.recorder.journal import last_seq
from portal.seats.totals import Totals, totals
from portal.waiting_room import room
from portal.waiting_room.room import RoomState
from portal.windows.phases import Phase, phase

Found = TypeVar("Found")

AWAY = (RedisError, LedgerUnavailable, SQLAlchemyError, OSError)
DAY = 24 * 60 * 60_000  # ms for which a window that has ended is still shown


@dataclass(frozen=True)
class Watched:
    """A window that is open, coming or has just ended, and its waiting room while it has one."""

    window: WindowView
    phase: Phase
    room: RoomState | None


@dataclass(frozen=True)
class TermNow:
    """A term in which a window is open, coming or has just ended."""

    term: Term
    windows: Sequence[Watched]
    seats: Totals
    seq: int  # of its last event
    ready: Ready | None  # for the next opening; None where nothing was begun

    @property
    def coming(self) -> bool:
        """Whether a window is open or to come."""
        return any(each.phase.kind in {"before", "open"} for each in self.windows)


@dataclass(frozen=True)
class Jobs:
    """Queues with their workers and pools, whether the clock ticks, and what was given up."""

    queues: Sequence[Manned]
    ticking: bool
    letters: Sequence[DeadLetter]
    pools: Mapping[str, Pool]
    asked: Mapping[str, Asked]  # by the clock


@dataclass(frozen=True)
class Figures:
    """All of it, at `at` (ms by the ledger's clock; 0 where that is away)."""

    at: int
    all_terms: Sequence[Term]
    terms: Sequence[TermNow] | None
    fenced: Sequence[Term] | None  # where nothing is decided until the ledger is restored
    emptying: Sequence[Emptying] | None
    step: Step  # of the import under way
    tally: Tally | None
    jobs: Jobs | None
    said: Sequence[Said] | None
    kept: Remembered | None
    postgresql: bool  # whether it answers

    @property
    def unrecorded(self) -> int | None:
        """Events that PostgreSQL does not have yet."""
        if self.terms is None or self.kept is None:
            return None
        recorded = self.kept.recorded
        return sum(max(0, each.seq - recorded.get(each.term.id, 0)) for each in self.terms)


def look() -> Figures:
    """How everything stands."""
    all_terms = _tried(live_terms) or []
    at = _tried(backend().ledger.now) or 0
    ids = [term.id for term in all_terms]
    redis = backend().redis
    kept = _tried(lambda: remembered(ids))
    students = kept.students if kept else 0
    terms = _tried(lambda: _terms(all_terms, at, students), there=at > 0)
    running = [each.term.id for each in terms or ()]
    return Figures(
        at=at,
        all_terms=all_terms,
        terms=terms,
        fenced=_tried(lambda: [term for term in all_terms if fence.why(term.id)], there=at > 0),
        emptying=_tried(lambda: emptying(all_terms), there=at > 0),
        step=step_of(kept.importing.id) if at and kept and kept.importing else Step(),
        tally=_tried(lambda: tally(redis, running, at), there=at > 0),
        jobs=_tried(_jobs, there=at > 0),
        said=_tried(lambda: breaking.said(redis), there=at > 0),
        kept=kept,
        postgresql=kept is not None and not postgresql.away,
    )


def _tried(read: Callable[[], Found], *, there: bool = True) -> Found | None:
    """None where it can't be had; what is not `there` would only hang once more."""
    try:
        return read() if there else None
    except AWAY:
        return None


def _terms(terms: Sequence[Term], at: int, students: int) -> list[TermNow]:
    found = []
    for term in terms:
        windows = [each for each in backend().ledger.windows(term.id) if _matters(each, at)]
        if windows:
            seq = last_seq(backend().redis, term.id)
            watched = [_watched(term.id, window, at) for window in windows]
            seats, made = _totals(term.id, seq), ready(term.id, students)
            found.append(TermNow(term, watched, seats, seq, made))
    return found


def _matters(window: WindowView, at: int) -> bool:
    return window.state != "canceled" and at < window.closes + DAY


def _watched(term: int, window: WindowView, at: int) -> Watched:
    now = phase([window], at)
    wanted = backend().settings.room and now.kind in {"before", "open"}
    return Watched(window, now, room.state(term, window.id) if wanted else None)


@lru_cache(maxsize=16)
def _totals(term: int, _seq: int) -> Totals:
    """Of open sections. Seats move with an event only, so in quiet times nothing is added up."""
    ledger = backend().ledger
    seats = [each for each in ledger.seats(term).values() if each.status == "OPEN"]
    return totals(seats, ledger.pools(term))


def _jobs() -> Jobs:
    redis = backend().redis
    found = crew.queues(redis)
    given_up = [queue.name for queue in found if queue.dead]
    letters = dead.letters(redis, given_up)[::-1]
    pools = scaling.pools(backend().settings.workers)
    return Jobs(found, crew.ticking(redis), letters, pools, scaling.asked(redis))
