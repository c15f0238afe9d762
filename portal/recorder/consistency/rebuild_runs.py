"""Rebuilds of read models on request: a worker runs them; the audit trail has both ends."""

from dataclasses import dataclass
from datetime import datetime

from redis.exceptions import RedisError
from sqlalchemy import ColumnElement, select

from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.core.queue import enqueue_background
from portal.ledger.errors import LedgerUnavailable
from portal.recorder.consistency.repair import rebuild

REQUESTED, DONE = "record.rebuild", "record.rebuilt"
LONGEST = 20 * 60  # seconds that a run may take
SHOWN = 10


@dataclass(frozen=True)
class RebuildRun:
    """A rebuild that was requested, and its outcome once it is done."""

    id: int
    requested_at: datetime
    done_at: datetime | None = None
    events: int | None = None
    changed: int | None = None  # rows that were different


def request(term: int, by: int, reason: str) -> RebuildRun:
    """Have a worker rebuild the read models of a term; raise LedgerUnavailable without a queue."""
    with transaction() as session:
        entry = add_audit_entry(session, REQUESTED, f"term:{term}", by=by, reason=reason)
        session.flush()
        session.refresh(entry)
        requested = RebuildRun(entry.id, entry.at)
    try:
        enqueue_background("rebuild", requested.id, f"{term}-rebuild-{requested.id}", LONGEST)
    except RedisError as error:
        raise LedgerUnavailable(str(error)) from error
    return requested


def run(number: int) -> None:
    """Run a rebuild that was requested, unless it is done already. Raises LogDamaged."""
    with transaction() as session:
        requested = session.get_one(AuditEntry, number)
        done = session.scalar(select(AuditEntry.id).where(*_done_of(number)))
    if done:
        return
    term = int(requested.subject.removeprefix("term:"))
    rebuilt = rebuild(term)
    after = {"events": rebuilt.events, "changed": len(rebuilt.differences), "asked": number}
    with transaction() as session:
        by, reason = requested.account_id, requested.reason
        add_audit_entry(session, DONE, requested.subject, by=by, after=after, reason=reason)


def latest(term: int) -> list[RebuildRun]:
    """Return the last rebuilds of a term that were requested, the newest first."""
    mine = AuditEntry.action == REQUESTED, AuditEntry.subject == f"term:{term}"
    with transaction() as session:
        query = select(AuditEntry).where(*mine).order_by(AuditEntry.id.desc()).limit(SHOWN)
        found = session.scalars(query).all()
        numbers = AuditEntry.after["asked"].as_integer()
        ended = AuditEntry.action == DONE, numbers.in_([each.id for each in found])
        done = {
            (each.after or {})["asked"]: each
            for each in session.scalars(select(AuditEntry).where(*ended))
        }
    return [_run_of(each, done.get(each.id)) for each in found]


def _run_of(requested: AuditEntry, done: AuditEntry | None) -> RebuildRun:
    if done is None:
        return RebuildRun(requested.id, requested.at)
    after = done.after or {}
    return RebuildRun(requested.id, requested.at, done.at, after["events"], after["changed"])


def _done_of(number: int) -> tuple[ColumnElement[bool], ...]:
    return (
        AuditEntry.action == DONE,
        AuditEntry.after["asked"].as_integer() == number,
    )
