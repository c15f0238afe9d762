"""Long lists of students: kept once and for all, so that a window need only name its own."""

from hashlib import sha256

from sqlalchemy import func, insert, literal, select
from sqlalchemy.dialects.postgresql import insert as upsert

from portal.core.db import transaction
from portal.people.models import ListedStudent, Student, StudentList
from portal.windows.cohorts import LONG, Cohort, numbered


def with_list(cohort: Cohort) -> Cohort:
    """The cohort with its students as a list, where they are many.

    The same students make the same list, so that doing it again changes nothing.
    """
    numbers = cohort.get("students", [])
    if len(numbers) <= LONG:
        return cohort
    rest = {kind: names for kind, names in cohort.items() if kind != "students"}
    number, students = keep(numbers)
    return rest | {"list": {"id": number, "students": students}}


def keep(numbers: list[str]) -> tuple[int, int]:
    """The id of the list of these students, and how many there are of them."""
    digest = sha256("\n".join(sorted(set(numbers))).encode()).hexdigest()
    which = select(StudentList.id).where(StudentList.digest == digest)
    with transaction() as session:
        made = session.scalar(
            upsert(StudentList)
            .values(digest=digest)
            .on_conflict_do_nothing()
            .returning(StudentList.id)
        )
        if made:
            known = select(literal(made), Student.id).where(numbered(numbers))
            session.execute(insert(ListedStudent).from_select(["list_id", "student_id"], known))
        kept = made or session.scalars(which).one()
        count = select(func.count()).where(ListedStudent.list_id == kept)
        return kept, session.scalars(count).one()
