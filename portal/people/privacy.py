"""A student's wish for privacy.

The rule: of a student who has asked for it, whoever teaches sees the name, the number and what
concerns the class itself (seat or place in line, credits, since when), as a class can't do without.
Year, major and email address are left out: on the page and on paper, in files and in lists of
addresses. The registrar's office sees everything.
"""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.live.publish import roster_changed
from portal.people.models import AuditEntry, Student
from portal.recorder.models import Enrollment, WaitlistEntry


def withheld(roles: frozenset[str], *, private: bool) -> bool:
    """Whether a visitor of these roles is kept from what the student wants kept private."""
    return private and "admin" not in roles


def set_private(student_id: int, by: int, reason: str = "", *, private: bool) -> bool:
    """Note what the student wants, from this moment on; whether that was another thing before."""
    with transaction() as session:
        student = session.get_one(Student, student_id, with_for_update=True)
        if student.private == private:
            return False
        session.add(
            AuditEntry(
                account_id=by,
                action="student.privacy",
                subject=f"student:{student_id}",
                before={"private": student.private},
                after={"private": private},
                reason=reason,
            )
        )
        student.private = private
        classes = _classes(session, student_id)
    for term, section in classes:
        roster_changed(term, section)
    return True


def _classes(session: Session, student_id: int) -> list[tuple[int, int]]:
    """The terms and sections in which the student is on somebody's list."""
    places = (
        (Enrollment, ("enrolled",)),
        (WaitlistEntry, ("waiting", "passed")),
    )
    found = [
        session.execute(
            select(place.term_id, place.section_id).where(
                place.student_id == student_id, place.state.in_(states)
            )
        )
        for place, states in places
    ]
    return [(row.term_id, row.section_id) for rows in found for row in rows]
