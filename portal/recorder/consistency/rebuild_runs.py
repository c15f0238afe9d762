"""Rebuilds of read models on request: a worker runs one per term; the audit trail has both ends."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from redis.exceptions import RedisError
from sqlalchemy import ColumnElement, and_, func, select
from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.core.queue import enqueue_background
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency.repair import rebuild

REQUESTED, DONE, FAILED = "record.rebuild", "record.rebuilt", "record.rebuild_failed"
LONGEST = 20 * 60  # seconds that a run may take
LOST_AFTER = timedelta(hours=2)  # a run without an end for this long has lost its worker
LOCK = 6_002  # the class of PostgreSQL's advisory locks
SHOWN = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RebuildRun:
    """A rebuild that was requested, and its outcome once it has ended."""

    id: int
    requested_at: datetime
    done_at: datetime | None = None
    events: int | None = None
    changed: int | None = None  # rows that were different
    failed: bool = False

    @property
    def state(self) -> Literal["pending", "done", "failed"]:
        """Return how the run stands; one that has lost its worker has failed."""
        if self.done_at:
            return "done"
        lost = self.requested_at < datetime.now(UTC) - LOST_AFTER
        return "failed" if self.failed or lost else "pending"


def request(term: int, by: int, reason: str) -> RebuildRun:
    """Return the pending rebuild of a term, or a new one that a worker runs.

    Raises LedgerUnavailable without a queue.
    """
    with transaction() as session:
        session.execute(select(func.pg_advisory_xact_lock(LOCK, term)))
        pending = [each for each in _latest(session, term) if each.state == "pending"]
        if pending:
            return pending[0]
        entry = add_audit_entry(session, REQUESTED, f"term:{term}", by=by, reason=reason)
        session.flush()
        session.refresh(entry)
        requested = RebuildRun(entry.id, entry.at)
    try:
        enqueue_background("rebuild", requested.id, f"{term}-rebuild-{requested.id}", LONGEST)
    except RedisError as error:
        _end(requested.id, FAILED, {"error": "No worker is available."})
        raise LedgerUnavailable(str(error)) from error
    return requested


def run(number: int) -> None:
    """Run a rebuild that was requested, unless it has ended, and record its end or failure."""
    with transaction() as session:
        requested = session.get_one(AuditEntry, number)
        ended = session.scalar(select(AuditEntry.id).where(_ends([number])))
    if ended:
        return
    term = int(requested.subject.removeprefix("term:"))
    try:
        rebuilt = rebuild(term)
    except Exception as error:
        log.exception("The rebuild %s of term %s failed", number, term)
        _end(number, FAILED, {"error": f"{type(error).__name__}: {error}"[:2000]})
    else:
        _end(number, DONE, {"events": rebuilt.events, "changed": len(rebuilt.differences)})


def latest(term: int) -> list[RebuildRun]:
    """Return the last rebuilds of a term that were requested, the newest first."""
    with transaction() as session:
        return _latest(session, term)


def _latest(session: Session, term: int) -> list[RebuildRun]:
    mine = AuditEntry.action == REQUESTED, AuditEntry.subject == f"term:{term}"
    query = select(AuditEntry).where(*mine).order_by(AuditEntry.id.desc()).limit(SHOWN)
    found = session.scalars(query).all()
    of_these = select(AuditEntry).where(_ends([each.id for each in found]))
    ends = {(each.after or {})["asked"]: each for each in session.scalars(of_these)}
    return [_run_of(each, ends.get(each.id)) for each in found]


def _end(number: int, action: str, after: dict[str, Any]) -> None:
    """Record the end of a run in the name of the account that requested it."""
    with transaction() as session:
        requested = session.get_one(AuditEntry, number)
        by, reason, facts = requested.account_id, requested.reason, after | {"asked": number}
        add_audit_entry(session, action, requested.subject, by=by, after=facts, reason=reason)


def _run_of(requested: AuditEntry, end: AuditEntry | None) -> RebuildRun:
    if end is None:
        return RebuildRun(requested.id, requested.at)
    if end.action == FAILED:
        return RebuildRun(requested.id, requested.at, failed=True)
    after = end.after or {}
    return RebuildRun(requested.id, requested.at, end.at, after["events"], after["changed"])


def _ends(numbers: Sequence[int]) -> ColumnElement[bool]:
    """Match the ends of runs."""
    run = AuditEntry.after["asked"].as_integer()
    return and_(AuditEntry.action.in_((DONE, FAILED)), run.in_(numbers))
