"""Audits that somebody asked for: one of a term at a time, done by a worker, with its progress."""

import logging
from datetime import timedelta
from time import monotonic
from typing import Any

from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.correlation import cause
from portal.core.db import transaction
from portal.core.queue import KEPT
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency.audit import Report, audit_term
from portal.recorder.models import AuditRun

QUEUE, JOB = "errands", "jobs.errands.audit"
LONGEST = 30 * 60  # seconds that one may take
STILL = timedelta(minutes=5)  # after which one that has not moved has lost its worker
SHOWN = 200  # differences that are kept of one
OFTEN = 1.0  # seconds between two words of progress
BEHIND = (
    "{} events are not recorded yet, so the ledger could not be compared. See that a recorder runs"
    " and gets on, then audit again."
)
UNDER_WAY = AuditRun.ended_at.is_(None)

log = logging.getLogger(__name__)


def enter(session: Session, term: int, by: int) -> int | None:
    """A new run, to be called for once this is committed; None while another one is under way."""
    lost = update(AuditRun).where(
        AuditRun.term_id == term, UNDER_WAY, AuditRun.moved_at < func.now() - STILL
    )
    session.execute(lost.values(ended_at=func.now(), error="Its worker was lost."))
    wanted = insert(AuditRun).values(term_id=term, account_id=by).on_conflict_do_nothing()
    return session.scalar(wanted.returning(AuditRun.id))


def call(term: int, run: int) -> None:
    """Call a worker to a run; raises LedgerUnavailable where none can be called."""
    queue = Queue(QUEUE, connection=backend().redis, serializer=JSONSerializer)
    try:
        queue.enqueue(
            JOB,
            run,
            job_id=f"{term}-audit-{run}",
            job_timeout=LONGEST,
            result_ttl=0,
            failure_ttl=KEPT,
            meta=cause(),
        )
    except RedisError as error:
        _note(run, ended_at=func.now(), error="No worker could be called.")
        raise LedgerUnavailable(str(error)) from error


def run(number: int) -> None:
    """Do it, unless it was given up; what comes of it is kept with it, a failure too."""
    with transaction() as session:
        wanted = select(AuditRun.term_id).where(AuditRun.id == number, UNDER_WAY)
        term = session.scalar(wanted)
    if term is None:
        return
    try:
        report = audit_term(term, Progress(number).tell)
    except Exception as error:
        log.exception("The audit %s of term %s failed", number, term)
        _note(number, ended_at=func.now(), error=f"{type(error).__name__}: {error}"[:2000])
    else:
        _note(number, ended_at=func.now(), **_result(report))


def keep(term: int, report: Report) -> None:
    """Keep an audit that a command has done, as those are kept that pages have asked for."""
    with transaction() as session:
        session.add(AuditRun(term_id=term, ended_at=func.now(), **_result(report)))


def latest(session: Session, term: int, count: int) -> list[AuditRun]:
    """The last runs of a term, the latest first."""
    found = select(AuditRun).where(AuditRun.term_id == term).order_by(AuditRun.id.desc())
    return list(session.scalars(found.limit(count)))


class Progress:
    """Notes with a run how far it has come, once a second at most."""

    def __init__(self, number: int) -> None:
        self._run = number
        self._step = ""
        self._due = 0.0

    def tell(self, step: str, done: int, events: int) -> None:
        """Note a step, and how many events of how many it has compared."""
        if step == self._step and monotonic() < self._due:
            return
        self._step, self._due = step, monotonic() + OFTEN
        _note(self._run, step=step, done=done, events=events)


def _result(report: Report) -> dict[str, Any]:
    differences, unrecorded, events = (
        report[name] for name in ("differences", "unrecorded", "events")
    )
    return {
        "step": "done",
        "done": events,
        "events": events,
        "found": len(differences),
        "differences": differences[:SHOWN],
        "error": BEHIND.format(unrecorded) if unrecorded else "",
    }


def _note(number: int, **values: Any) -> None:
    with transaction() as session:
        changed = update(AuditRun).where(AuditRun.id == number, UNDER_WAY)
        session.execute(changed.values(moved_at=func.now(), **values))
