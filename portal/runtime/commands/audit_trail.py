"""The audit trail of the command line, whose users have no account."""

from typing import Any

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction

REASON = "command line"


def note(action: str, subject: str, after: dict[str, Any] | None = None) -> None:
    """Add an entry to the audit trail."""
    with transaction() as session:
        add_audit_entry(session, action, subject, after=after, reason=REASON)
