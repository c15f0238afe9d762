"""Viewing a student's pages in the student's place, read only."""

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.people import student_profile, visitors
from portal.people.visitors import Visitor

STUDENT = frozenset({"student"})


def viewable(student_id: int) -> Visitor | None:
    """Return the visitor of a student who can log in and has no other role."""
    try:
        account = student_profile.profile(student_id).account
    except LookupError:
        return None
    found = visitors.find(account)
    return found if found and found.roles == STUDENT else None


def note_begin(student_id: int, by: int, reason: str) -> None:
    """Store in the audit trail that somebody begins to view the pages of a student."""
    with transaction() as session:
        subject = f"student:{student_id}"
        add_audit_entry(session, "student.view", subject, by=by, reason=reason)


def note_end(student_id: int, by: int) -> None:
    """Store in the audit trail that somebody has stopped viewing the pages of a student."""
    with transaction() as session:
        add_audit_entry(session, "student.view_end", f"student:{student_id}", by=by)
