"""The audit trail of the command line, whose users have no account."""

from typing import Any

from portal.core.db import transaction
from portal.people.models import AuditEntry

REASON = "command line"


def note(action: str, subject: str, after: dict[str, Any] | None = None) -> None:
    """Add an entry to the audit trail."""
    with transaction() as session:
        session.add(AuditEntry(action=action, subject=subject, after=after, reason=REASON))
