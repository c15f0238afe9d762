"""A student's request for privacy.

If a student has asked for privacy, instructors see only the name, the number and the facts about
the class: seat or waitlist position, credits, and since when. Pages, printouts and files leave out
year, major and email address. Those who may see student records see everything.
"""

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.people.models import Student
from portal.people.roles import Right, rights_of
from portal.people.signals import privacy_changed


def withheld(roles: frozenset[str], *, private: bool) -> bool:
    """Return whether a visitor with these roles may not see what a student keeps private."""
    return private and Right.SEE_STUDENTS not in rights_of(roles)


def set_private(student_id: int, by: int, reason: str = "", *, private: bool) -> bool:
    """Store whether the student wants privacy from now on; return whether that has changed."""
    with transaction() as session:
        student = session.get_one(Student, student_id, with_for_update=True)
        if student.private == private:
            return False
        add_audit_entry(
            session,
            "student.privacy",
            f"student:{student_id}",
            by=by,
            before={"private": student.private},
            after={"private": private},
            reason=reason,
        )
        student.private = private
    privacy_changed.send(student_id)
    return True
