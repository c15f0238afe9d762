"""What a student is told of a permission past a rule: that it is given, and that it is gone."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.notifications.announcing import Announcement, announce
from portal.notifications.kinds import PERMITTED
from portal.people.models import Account, AuditEntry, Permission, Student
from portal.recorder.events import milliseconds


def tell_student(session: Session, override: Permission, entry: AuditEntry) -> None:
    """Tell of it with the transaction, once for each entry of the trail about it."""
    session.flush()
    about = {
        "waives": override.waives,
        "until": override.expires_at and milliseconds(override.expires_at),
        "gone": override.revoked_at is not None,
    }
    section = session.get_one(Section, override.section_id)
    owner = select(Student.account_id).where(Student.id == override.student_id)
    told = Announcement(PERMITTED, section, entry.id, about)
    announce(session, told, Account.id == owner.scalar_subquery())
