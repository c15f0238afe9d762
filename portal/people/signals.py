"""Signals about people; portal/subscribers.py lists their subscribers."""

from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry
from portal.core.signals import Signal
from portal.people.models import Hold, Permission

# Within the transaction; the account, and its address before, or the name of a new API token.
password_changed: Signal[Session, int] = Signal()
email_changed: Signal[Session, int, str] = Signal()
token_created: Signal[Session, int, str] = Signal()
# Sent in the transaction: the hold or permission that was granted or ended, with its audit entry.
hold_changed: Signal[Session, Hold, AuditEntry] = Signal()
permission_changed: Signal[Session, Permission, AuditEntry] = Signal()
# Sent after the transaction: an account that lost a session or a role, or became a student; a
# student's privacy.
sessions_ended: Signal[int] = Signal()
privacy_changed: Signal[int] = Signal()
