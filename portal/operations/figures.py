"""The figures of the running portal, the same from every process.

A store that is unavailable leaves a gap (None): the page matters most when something is broken.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import TypeVar

from redis.exceptions import RedisError
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.applications import dead_letters as of_applications
from portal.applications.dead_letters import DeadLetter as DeadOfApplication
from portal.backend import backend
from portal.catalog.models import Term
from portal.catalog.sections import RUNNING
from portal.catalog.term_catalog import NoSuchTerm, catalog_of, live_terms
from portal.core import breakers as breaking
from portal.core import flags
from portal.core.breakers import BreakerState, State
from portal.core.cache import Cache
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.flags import Flag
from portal.core.i18n import _l
from portal.core.outage import postgresql
from portal.core.queue import QUEUES, pause_flag
from portal.exchange.exporting import export_jobs
from portal.exchange.exporting.models import Export
from portal.exchange.importing import import_jobs
from portal.exchange.importing.import_jobs import ProgressStep, step_of
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.tally import Tally, tally
from portal.ledger.types import WindowView
from portal.notifications import outbox
from portal.notifications.outbox import DeadLetter as DeadMail
from portal.notifications.webhooks import outbox as webhooks
from portal.notifications.webhooks.sender import BREAKER_PREFIX as WEBHOOK
from portal.operations import dead_letters, workers
from portal.operations.dead_letters import DeadLetter
from portal.operations.workers import QueueState
from portal.people import student_profile
from portal.people.models import Account
from portal.recorder.consistency import fence
from portal.recorder.journal import last_seq
from portal.recorder.models import AuditRun, ContinuousAudit
from portal.recorder.status import Lags, lags_over
from portal.registration.next_steps import section_name
from portal.registration.seat_counts import Totals, totals
from portal.waiting_room import admission_limits, draw_codes, room
from portal.waiting_room.admission_limits import Pause
from portal.waiting_room.draw_codes import DrawCodes
from portal.waiting_room.room import RoomState
from portal.windows import readiness, rounds
from portal.windows.models import Round
from portal.windows.phases import Phase, phase

Found = TypeVar("Found")

AWAY = (RedisError, LedgerUnavailable, SQLAlchemyError, OSError)
DAY = 24 * 60 * 60_000  # ms for which an ended window is still shown
FRESH = 0.5  # seconds for which PostgreSQL's figures are reused
MAILS_SHOWN = 20
BREAKERS = {
    "mail": _l("Mail server"),
    "captcha": _l("Captcha server"),
    "provider": _l("Login provider"),
}


@dataclass(frozen=True)
class Ready:
    """How far a term is prepared for its next opening; times in ms, `since` 0 until it is ready."""

    sections: int
    loaded: int  # of them, sections that the ledger knows
    processes: int
    warm: int  # of them, web processes that have read the catalog and the profiles
    profiles: int
    students: int
    since: int

    @property
    def parts(self) -> tuple[int, int]:
        """Return how much of how much is done: sections and profiles."""
        return self.loaded + self.profiles, self.sections + self.processes * self.students


@dataclass(frozen=True)
class WindowNow:
    """A window that is open, upcoming or just ended, and its waiting room while it has one."""

    window: WindowView
    phase: Phase
    room: RoomState | None


@dataclass(frozen=True)
class TermNow:
    """A term with such windows."""

    term: Term
    windows: Sequence[WindowNow]
    seats: Totals
    seq: int  # of its last event
    ready: Ready | None  # for the next opening; None if nothing was started

    @property
    def coming(self) -> bool:
        """Return whether a window is open or upcoming."""
        return any(each.phase.kind in {"before", "open"} for each in self.windows)


@dataclass(frozen=True)
class Jobs:
    """Queues with their workers, whether the scheduler runs, and dead letters."""

    queues: Sequence[QueueState]
    scheduler_runs: bool
    dead: Sequence[DeadLetter]


@dataclass(frozen=True)
class Cancellation:
    """A canceled section that still has seats or waitlist positions to free."""

    term: Term
    section: int
    name: str
    seats: int
    places: int


@dataclass(frozen=True)
class ImportNow:
    """An import in progress, who started it, and its state as pages show it."""

    id: int
    name: str
    by: str
    state: str


@dataclass(frozen=True)
class Stored:
    """PostgreSQL's figures."""

    recorded: dict[int, int]  # the last recorded event, by term
    lag: Lags  # how late decisions of the last 5 minutes were recorded
    flags: dict[str, tuple[Flag, str]]  # with the name of the admin who switched it
    runs: dict[int, tuple[AuditRun, str]]  # the last audit by term, and who requested it
    importing: ImportNow | None
    exporting: list[tuple[Export, str]]  # with the name of the person who requested it
    mails: list[DeadMail]
    mails_in_all: int
    applications: list[DeadOfApplication]
    applications_in_all: int
    undelivered: int  # events that a webhook could not be sent
    students: int
    differences: dict[int, int]  # found by the continuous audit, by term
    pauses: dict[int, Pause]  # the last pause of each waiting room, by window
    rounds: list[Round]  # those that can't go on by themselves
    draws: list[DrawCodes]  # whose codes are late

    def unrecorded(self, term: TermNow) -> int:
        """Return how many events of a term PostgreSQL does not have yet."""
        return max(0, term.seq - self.recorded.get(term.term.id, 0))


@dataclass(frozen=True)
class Figures:
    """All figures, at `at` (ms by the ledger's clock; 0 if the ledger is unavailable)."""

    at: int
    all_terms: Sequence[Term]
    terms: Sequence[TermNow] | None
    fenced: Sequence[Term] | None  # whose ledger decides nothing until it is restored
    cancellations: Sequence[Cancellation] | None
    step: ProgressStep  # of the import in progress
    tally: Tally | None
    jobs: Jobs | None
    reports: Sequence[BreakerState] | None  # of the breakers of all processes
    stored: Stored | None
    postgresql: bool  # whether it answers

    @property
    def unrecorded(self) -> int | None:
        """Return how many events PostgreSQL does not have yet."""
        if self.terms is None or self.stored is None:
            return None
        return sum(self.stored.unrecorded(each) for each in self.terms)


@dataclass(frozen=True)
class Breaker:
    """A circuit breaker, and its worst state in any process."""

    part: str
    state: State

    @property
    def name(self) -> str:
        """Return the name of the service."""
        return str(BREAKERS[self.part])


@dataclass(frozen=True)
class Switch:
    """A feature flag, whether it is on, and who switched it last, when and why."""

    name: str
    on: bool
    in_use: bool  # by the settings
    version: int = 0
    reason: str = ""
    by: str = ""
    at: datetime | None = None

    @property
    def label(self) -> str:
        """Return the name of the part."""
        return str(flags.LABELS[self.name])


def read_figures() -> Figures:
    all_terms = or_none(live_terms) or []
    at = or_none(backend().ledger.now) or 0
    ids = tuple(term.id for term in all_terms)
    redis = backend().redis
    stored = or_none(lambda: _stored.get(ids))
    students = stored.students if stored else 0
    terms = or_none(lambda: _terms(all_terms, at, students), there=at > 0)
    running = [each.term.id for each in terms or ()]
    importing = stored.importing if stored else None
    return Figures(
        at=at,
        all_terms=all_terms,
        terms=terms,
        fenced=or_none(lambda: [term for term in all_terms if fence.why(term.id)], there=at > 0),
        cancellations=or_none(lambda: list(_cancellations(all_terms)), there=at > 0),
        step=step_of(importing.id) if at and importing else ProgressStep(),
        tally=or_none(lambda: tally(backend().ledger, running, at), there=at > 0),
        jobs=or_none(_jobs, there=at > 0),
        reports=or_none(lambda: breaking.breaker_states(redis), there=at > 0),
        stored=stored,
        postgresql=stored is not None and not postgresql.away,
    )


def forget() -> None:
    """Discard PostgreSQL's cached figures."""
    _stored.clear()


def breakers(figures: Figures) -> list[Breaker]:
    """Return the breakers of services that are in use."""
    in_use = parts_in_use()
    return [_breaker(figures, part) for part in BREAKERS if f"{part}_breaker" in in_use]


def webhook_breakers(figures: Figures) -> list[Breaker]:
    """Return the breakers of webhooks that have failed lately."""
    parts = {each.part for each in figures.reports or () if each.part.startswith(WEBHOOK)}
    return [_breaker(figures, part) for part in sorted(parts)]


def late_draws(figures: Figures) -> list[tuple[Term, WindowView, DrawCodes]]:
    """Return each draw before its opening whose codes are late."""
    late = {each.window_id: each for each in figures.stored.draws} if figures.stored else {}
    return [
        (term.term, each.window, late[each.window.id])
        for term in figures.terms or ()
        for each in term.windows
        if each.phase.kind == "before" and each.window.id in late
    ]


def switches(figures: Figures) -> list[Switch]:
    """Return every flag; as this process knows it if PostgreSQL does not answer."""
    in_use, known = parts_in_use(), figures.stored.flags if figures.stored else {}
    found = []
    for name in flags.NAMES:
        flag, by = known.get(name, (None, ""))
        if flag is None:
            found.append(Switch(name, flags.on(name), name in in_use))
        else:
            facts = flag.version, flag.reason, by, flag.changed_at
            found.append(Switch(name, flag.is_on, name in in_use, *facts))
    return found


def pauses(figures: Figures) -> dict[str, tuple[Flag, str]]:
    """Return the flag of each paused queue, and the name of the admin who paused it."""
    known = figures.stored.flags if figures.stored else {}
    found = {name: known.get(pause_flag(name)) for name in QUEUES}
    return {name: pause for name, pause in found.items() if pause and not pause[0].is_on}


def parts_in_use() -> set[str]:
    """Return the parts that the settings use."""
    settings = backend().settings
    server = settings.gate and "://" in settings.captcha
    there = {
        "waiting_room": settings.gate and settings.room is not None,
        "room_record": settings.room is not None,
        "captcha": settings.gate and settings.captcha != "off",
        "captcha_server": server,
        "captcha_breaker": server,
        "rate_limits": settings.gate,
        "mail_breaker": bool(settings.smtp),
        "provider_breaker": settings.oidc is not None,
    }
    return {name for name in flags.NAMES if there.get(name, True)}


def ready(term: int, students: int) -> Ready | None:
    """Return how ready the term is for so many students; None if nothing was started."""
    found = readiness.readiness(term)
    if found is None:
        return None
    there = readiness.processes()
    warm = [each for each in there if each.request >= found.preload]
    students = min(students, student_profile.cache_size())
    done = bool(found.sent) and len(warm) == len(there)
    return Ready(
        sections=found.sections,
        loaded=found.done,
        processes=len(there),
        warm=len(warm),
        profiles=sum(min(each.profiles, students) for each in warm),
        students=students,
        since=max([found.sent, *(each.read for each in warm)]) if done else 0,
    )


def or_none(read: Callable[[], Found], *, there: bool = True) -> Found | None:
    """Return the result of `read`, None if it is unavailable; skip a store that is not `there`."""
    try:
        return read() if there else None
    except AWAY:
        return None


def _terms(terms: Sequence[Term], at: int, students: int) -> list[TermNow]:
    found = []
    for term in terms:
        windows = [
            _window(term.id, each, at)
            for each in backend().ledger.windows(term.id)
            if each.state != "canceled" and at < each.closes + DAY
        ]
        if windows:
            seq = last_seq(term.id)
            seats, made = _totals(term.id, seq), ready(term.id, students)
            found.append(TermNow(term, windows, seats, seq, made))
    return found


def _window(term: int, window: WindowView, at: int) -> WindowNow:
    now = phase([window], at)
    wanted = backend().settings.room and now.kind in {"before", "open"}
    return WindowNow(window, now, room.state(term, window.id) if wanted else None)


@lru_cache(maxsize=16)
def _totals(term: int, _seq: int) -> Totals:
    """Return the seat totals of open and confirmed sections; only an event changes them."""
    ledger = backend().ledger
    seats = [each for each in ledger.seats(term).values() if each.status in RUNNING]
    return totals(seats, ledger.pools(term))


def _jobs() -> Jobs:
    redis = backend().redis
    found = workers.queues(redis)
    failed = [queue.name for queue in found if queue.dead]
    dead_jobs = dead_letters.find_all(redis, failed)[::-1]
    return Jobs(found, workers.scheduler_runs(redis), dead_jobs)


def _cancellations(terms: Sequence[Term]) -> Iterator[Cancellation]:
    ledger = backend().ledger
    for term in terms:
        held = ledger.held(term.id, sorted(ledger.emptying(term.id)))
        for section, (seats, places) in held.items():
            yield Cancellation(term, section, _section_name(term.id, section), seats, places)


def _section_name(term: int, section: int) -> str:
    """Return its name; its id if PostgreSQL is down and this process does not know it."""
    with suppress(SQLAlchemyError, NoSuchTerm):
        if found := catalog_of(term).section(section):
            return section_name(found)
    return str(section)


def _breaker(figures: Figures, part: str) -> Breaker:
    states = {each.state(figures.at) for each in figures.reports or () if each.part == part}
    worst: tuple[State, ...] = ("open", "half-open")
    return Breaker(part, next((state for state in worst if state in states), "closed"))


def _read_stored(terms: tuple[int, ...]) -> Stored:
    with transaction() as session:
        checkpoints = select(Checkpoint.term_id, Checkpoint.seq).where(
            Checkpoint.term_id.in_(terms)
        )
        switched = select(Flag, Account.name).outerjoin(Account, Account.id == Flag.account_id)
        differ = select(ContinuousAudit.term_id, ContinuousAudit.found).where(
            ContinuousAudit.term_id.in_(terms), ContinuousAudit.found > 0
        )
        return Stored(
            recorded={row.term_id: row.seq for row in session.execute(checkpoints)},
            lag=lags_over(session, "5m"),
            flags={flag.name: (flag, name or "") for flag, name in session.execute(switched)},
            runs=_runs(session, terms),
            importing=_importing(session),
            exporting=export_jobs.under_way(session),
            mails=outbox.dead(session, MAILS_SHOWN),
            mails_in_all=outbox.number_dead(session),
            applications=of_applications.dead(session, MAILS_SHOWN),
            applications_in_all=of_applications.number_dead(session),
            undelivered=webhooks.number_dead(session),
            students=readiness.count_students(session),
            differences={row.term_id: row.found for row in session.execute(differ)},
            pauses=admission_limits.latest_pauses(session, terms),
            rounds=rounds.stuck(session, terms),
            draws=draw_codes.late(session, terms),
        )


def _runs(session: Session, terms: tuple[int, ...]) -> dict[int, tuple[AuditRun, str]]:
    found = (
        select(AuditRun, Account.name)
        .outerjoin(Account, Account.id == AuditRun.account_id)
        .where(AuditRun.term_id.in_(terms))
        .ext(distinct_on(AuditRun.term_id))
        .order_by(AuditRun.term_id, AuditRun.id.desc())
    )
    return {run.term_id: (run, name or "") for run, name in session.execute(found)}


def _importing(session: Session) -> ImportNow | None:
    found = import_jobs.busy(session)
    if found is None:
        return None
    by = session.get(Account, found.account_id) if found.account_id else None
    return ImportNow(
        found.id, found.name, by.name if by else "", import_jobs.state_of(session, found)
    )


_stored: Cache[tuple[int, ...], Stored] = Cache(_read_stored, FRESH, size=8)
