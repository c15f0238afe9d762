"""Audits on request: a worker runs one per term at a time and reports progress."""

import logging
from datetime import timedelta
from time import monotonic
from typing import Any

from redis.exceptions import RedisError
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _k
from portal.core.queue import enqueue_background
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency.audit import Report, audit_term
from portal.recorder.models import AuditRun

LONGEST = 30 * 60  # seconds that a run may take
STALLED_AFTER = timedelta(minutes=5)  # a run without progress for this long has lost its worker
SHOWN = 200  # differences stored per run
REPORT_SECONDS = 1.0  # seconds between progress reports
BEHIND = (
    "{} events are not recorded yet, so the ledger could not be compared. Make sure that a recorder"
    " runs and makes progress, then audit again."
)
UNDER_WAY = AuditRun.ended_at.is_(None)

log = logging.getLogger(__name__)


def request_run(session: Session, term: int, by: int) -> int | None:
    """Return the number of a new run, or None if another one is in progress.

    Enqueue the run after this transaction commits.
    """
    lost = update(AuditRun).where(
        AuditRun.term_id == term, UNDER_WAY, AuditRun.moved_at < func.now() - STALLED_AFTER
    )
    session.execute(lost.values(ended_at=func.now(), error=_k("Its worker was lost.")))
    wanted = insert(AuditRun).values(term_id=term, account_id=by).on_conflict_do_nothing()
    return session.scalar(wanted.returning(AuditRun.id))


def start(term: int, by: int) -> bool:
    """Start a run that an account asks for; return False if another one is in progress."""
    with transaction() as session:
        number = request_run(session, term, by)
        if number:
            add_audit_entry(session, "record.audited", f"term:{term} run:{number}", by=by)
    if number:
        enqueue_run(term, number)
    return number is not None


def enqueue_run(term: int, run: int) -> None:
    """Enqueue a run; raise LedgerUnavailable if the queue cannot be reached."""
    try:
        enqueue_background("audit", run, f"{term}-audit-{run}", LONGEST, retry=False)
    except RedisError as error:
        _update_run(run, ended_at=func.now(), error=_k("No worker is available."))
        raise LedgerUnavailable(str(error)) from error


def run(number: int) -> None:
    """Execute a run unless it was abandoned, and store its result or failure."""
    with transaction() as session:
        wanted = select(AuditRun.term_id).where(AuditRun.id == number, UNDER_WAY)
        term = session.scalar(wanted)
    if term is None:
        return
    try:
        report = audit_term(term, Progress(number).report)
    except Exception as error:
        log.exception("The audit %s of term %s failed", number, term)
        _update_run(number, ended_at=func.now(), error=f"{type(error).__name__}: {error}"[:2000])
    else:
        _update_run(number, ended_at=func.now(), **_result(report))


def store(term: int, report: Report) -> None:
    """Store an audit that a command ran, in the same way as audits that pages request."""
    with transaction() as session:
        session.add(AuditRun(term_id=term, ended_at=func.now(), **_result(report)))


def latest(session: Session, term: int, count: int) -> list[AuditRun]:
    """Return the last runs of a term, latest first."""
    found = select(AuditRun).where(AuditRun.term_id == term).order_by(AuditRun.id.desc())
    return list(session.scalars(found.limit(count)))


class Progress:
    """Progress of a run, stored at most once a second."""

    def __init__(self, number: int) -> None:
        self._run = number
        self._step = ""
        self._due = 0.0

    def report(self, step: str, done: int, events: int) -> None:
        """Store the step, and how many of how many events are compared."""
        if step == self._step and monotonic() < self._due:
            return
        self._step, self._due = step, monotonic() + REPORT_SECONDS
        _update_run(self._run, step=step, done=done, events=events)


def _result(report: Report) -> dict[str, Any]:
    return {
        "step": "done",
        "done": report["events"],
        "events": report["events"],
        "found": len(report["differences"]),
        "differences": report["differences"][:SHOWN],
        "error": BEHIND.format(report["unrecorded"]) if report["unrecorded"] else "",
    }


def _update_run(number: int, **values: Any) -> None:
    with transaction() as session:
        changed = update(AuditRun).where(AuditRun.id == number, UNDER_WAY)
        session.execute(changed.values(moved_at=func.now(), **values))
