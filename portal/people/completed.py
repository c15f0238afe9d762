"""Correcting which courses a student has completed, each change in the audit trail."""

from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import select

from portal.core.db import transaction
from portal.people.models import AuditEntry, CompletedCourse, Student


class Stale(Exception):  # noqa: N818  a fact, not a mistake
    """The record has been changed since it was looked at."""


@dataclass(frozen=True)
class Course:
    """A completed course as it is to stand on record."""

    term_name: str
    grade: str
    credits: Decimal


def correct(  # noqa: PLR0913  whose, what was, what is to be, who and why
    student: int, code: str, seen: Course | None, wanted: Course | None, *, by: int, why: str
) -> None:
    """Add the course (nothing `seen`), correct it, or take it off the record (nothing `wanted`).

    Raises Stale where what is on record is not what was seen. It is done once if done twice.
    """
    with transaction() as session:
        session.execute(select(Student.id).where(Student.id == student).with_for_update())
        row = session.get(CompletedCourse, (student, code))
        now = Course(row.term_name, row.grade, row.credits) if row else None
        if now == wanted:
            return
        if now != seen:
            raise Stale(code)
        if row and wanted is None:
            session.delete(row)
        elif wanted:
            session.merge(CompletedCourse(student_id=student, course_code=code, **asdict(wanted)))
        session.add(
            AuditEntry(
                account_id=by,
                action=ACTIONS[now is None, wanted is None],
                subject=f"student:{student} course:{code}",
                before=_facts(code, now),
                after=_facts(code, wanted),
                reason=why,
            )
        )


# Whether there was none, and whether there is none any more.
ACTIONS = {
    (True, False): "record.add",
    (False, False): "record.correct",
    (False, True): "record.remove",
}


def _facts(code: str, course: Course | None) -> dict[str, Any] | None:
    return {"course": code, **asdict(course), "credits": str(course.credits)} if course else None
