"""What happens to people; portal/subscribers.py lists who hears of it."""

from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry
from portal.core.signals import Signal
from portal.people.models import Hold, Permission

# Within the transaction; the account, and the name of a new API token.
password_changed: Signal[Session, int] = Signal()
token_created: Signal[Session, int, str] = Signal()
# Within the transaction; what is granted or ended, and its entry in the audit trail.
hold_changed: Signal[Session, Hold, AuditEntry] = Signal()
permission_changed: Signal[Session, Permission, AuditEntry] = Signal()
# After the transaction; an account with a session or a role less, and a student's privacy.
sessions_ended: Signal[int] = Signal()
privacy_changed: Signal[int] = Signal()
