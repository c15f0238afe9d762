"""The entries of the audit trail."""

from sqlalchemy import select
from sqlalchemy.orm import joinedload

from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction


def entries(action: str = "%") -> list[AuditEntry]:
    """Return the entries whose action is like this one, oldest first; by default all."""
    found = select(AuditEntry).where(AuditEntry.action.like(action)).order_by(AuditEntry.id)
    with transaction() as session:
        return list(session.scalars(found.options(joinedload(AuditEntry.account))))


def entry(action: str) -> AuditEntry:
    """Return the only entry of the action."""
    (found,) = entries(action)
    return found
