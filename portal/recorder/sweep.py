"""The scheduler's work each second: due jobs, and work that a lost message left undone."""

import logging
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from time import monotonic

from redis import Redis
from sqlalchemy import Connection, Select, func, select

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import read_only
from portal.core.moments import milliseconds, moment
from portal.core.queue import NO_TERM, enqueue
from portal.ledger.function_library import prefix
from portal.recorder import signals
from portal.recorder.consistency import continuous_audit, fence
from portal.recorder.consistency.ledger_keys import batches
from portal.recorder.promotion import SkippedWaiter, retriable, retry
from portal.windows.readiness import Target, opening

TIMEOUT = 5.0  # seconds before a worker without progress gets its job again

log = logging.getLogger("fairseat.alarm")


@dataclass(frozen=True)
class LiveTerm:
    """A term as PostgreSQL knows it."""

    id: int
    version: int
    recorded: int
    sections: int
    opening: datetime | None = None  # the next one, once it is near

    @property
    def target(self) -> Target:
        """Return what the ledger must be ready for: the catalog's version and the opening (ms)."""
        return Target(self.version, milliseconds(self.opening) if self.opening else 0)


@dataclass(frozen=True)
class LedgerState:
    """A term as the ledger knows it; `ready` names the catalog and opening it is ready for."""

    seq: int
    vacant: int  # sections with work for the promoter
    sections: int
    ready: Target
    fenced: bool


@dataclass
class Sweeper:
    """Remembers jobs and terms, so windows turn and fences go up while PostgreSQL is down."""

    terms: list[LiveTerm] = field(default_factory=list)
    to_compare: list[int] = field(default_factory=list)  # terms
    # jobs of subscribers, and their reasons
    due: dict[tuple[int, str], int] = field(default_factory=dict)
    skipped: list[SkippedWaiter] = field(default_factory=list)  # read after the terms
    enqueued: dict[tuple[int, str], tuple[int, float]] = field(
        default_factory=dict
    )  # reason and time

    def read_terms(self) -> None:
        """Read which terms exist, how far each is recorded, and which jobs are due."""
        with read_only() as look:
            self.terms = live_terms(look)
            self.skipped = retriable(look, moment(backend().ledger.now()))
            terms = [term.id for term in self.terms]
            jobs = [job for found in signals.jobs_requested.send(look, terms) for job in found]
            self.due = {(job.term, job.job): job.reason for job in jobs}
            self.to_compare = continuous_audit.due(look)

    def turn_windows(self) -> None:
        """Let the ledger open and close windows, if it has lost nothing."""
        for term, state in ledger_states(self.terms):
            if state.fenced:
                continue
            if state.seq < term.recorded:
                _fence(term, state)
            elif state.seq:
                backend().ledger.turn(term.id)

    def enqueue_due(self) -> None:
        """Enqueue jobs for the workers that have something to do."""
        for term, state in ledger_states(self.terms):
            if state.seq >= term.recorded and not state.fenced:
                self._enqueue_for(term, state)
        for (term_id, job), why in self.due.items():
            if term_id == NO_TERM:
                self._enqueue(term_id, job, why)

    def _enqueue_for(self, term: LiveTerm, state: LedgerState) -> None:
        if state.seq > term.recorded:
            self._enqueue(term.id, "record", term.recorded)
        else:  # otherwise the unrecorded events may include that retry
            for waiter in self.skipped:
                if waiter.term == term.id:
                    retry(waiter)
        if state.vacant:
            self._enqueue(term.id, "promote", state.seq)
        if why := self.due.get((term.id, "notify")):
            self._enqueue(term.id, "notify", why)
        if why := self.due.get((term.id, "rounds")):
            self._enqueue(term.id, "rounds", why)
        if term.id in self.to_compare:
            self._enqueue(term.id, "reconcile", 0)
        unready = state.sections < term.sections or not term.target.met_by(state.ready)
        ended = self.due.get((term.id, "maintain"), 0)
        if unready or ended:
            why = term.version + term.target.opening + ended
            self._enqueue(term.id, "maintain", why)

    def _enqueue(self, term: int, worker: str, why: int) -> None:
        """Enqueue a job; repeat one that changed nothing only after TIMEOUT."""
        before, when = self.enqueued.get((term, worker), (-1, 0.0))
        if why != before or monotonic() - when > TIMEOUT:
            self.enqueued[term, worker] = why, monotonic()
            enqueue(term, [worker])


def _fence(term: LiveTerm, state: LedgerState) -> None:
    """Stop decisions by a ledger that has fewer events than were recorded.

    The step that puts up the fence checks again: the ledger may just have been restored.
    """
    why = f"it is at event {state.seq}, and {term.recorded} are recorded"
    if not fence.put_up(term.id, why, behind=term.recorded):
        return
    log.critical(
        "ALARM fenced: the ledger of term %s has lost events behind %s, of %s."
        " See `fairseat rebuild ledger`.",
        term.id,
        state.seq,
        term.recorded,
    )


def live_terms(look: Connection) -> list[LiveTerm]:
    """Return every term that is not deleted."""
    return [LiveTerm(*row) for row in look.execute(_live_terms())]


@cache
def _live_terms() -> Select[int, int, int, int, datetime | None]:
    sections = (
        select(func.count()).where(Section.term_id == Term.id).correlate(Term).scalar_subquery()
    )
    recorded = func.coalesce(Checkpoint.seq, 0)
    return (
        select(Term.id, Term.catalog_version, recorded, sections, opening())
        .outerjoin(Checkpoint)
        .where(Term.deleted_at.is_(None))
        .order_by(Term.id)
    )


def ledger_states(terms: list[LiveTerm]) -> list[tuple[LiveTerm, LedgerState]]:
    """Return the ledger's state of each term, in one round trip to each server.

    Terms of a server that is away are left out. Raises LedgerUnavailable if all are away.
    """
    by_id = {term.id: term for term in terms}
    found = backend().ledger.ask_servers(by_id, _states)
    return [(by_id[term], state) for term, state in found]


def _states(redis: Redis, terms: list[int]) -> list[tuple[int, LedgerState]]:
    with redis.pipeline(transaction=False) as pipe:
        for term in terms:
            pipe.get(f"{prefix(term)}:seq")
            pipe.scard(f"{prefix(term)}:vacant")
            pipe.scard(f"{prefix(term)}:emptying")
            pipe.hlen(f"{prefix(term)}:seats")
            pipe.hmget(f"{prefix(term)}:warmup", "version", "opening", "sent")
            pipe.exists(fence.key(term))
        replies = batches(pipe.execute(), 6)
    states = (
        LedgerState(
            seq=int(seq or 0),
            vacant=vacant + emptying,
            sections=sections,
            ready=Target(int(version or 0), int(opens or 0))
            if int(sections_sent or 0)
            else Target(),
            fenced=bool(fenced),
        )
        for seq, vacant, emptying, sections, (version, opens, sections_sent), fenced in replies
    )
    return list(zip(terms, states, strict=True))
