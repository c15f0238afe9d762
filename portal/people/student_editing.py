"""Students: their accounts and records created and edited by admins."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog import formatting
from portal.catalog.deletion import Dependency, InTheWay, Obstacle, find_obstacles
from portal.catalog.models import Department, Subject
from portal.catalog.record_details import Field, RecordDetails, text_lines
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _l
from portal.people import accounts, signals
from portal.people.models import Account, Student, StudentSubject

# Lists of numbers that would lose a student who gets another one.
USES_OF_NUMBER = (
    Dependency(
        _l("Seats reserved for this student"),
        "SELECT courses.code || '-' || sections.number FROM reserves"
        " JOIN sections ON sections.id = section_id JOIN courses ON courses.id = course_id"
        " WHERE reserves.cohort -> 'students' @> to_jsonb(CAST(:code AS text))",
    ),
    Dependency(
        _l("Windows for this student"),
        "SELECT name FROM windows WHERE state = 'scheduled' AND closes_at > now()"
        " AND cohort -> 'students' @> to_jsonb(CAST(:code AS text))",
    ),
)


class NumberTaken(Exception):
    """Another student has the number, possibly a deleted one."""


class UsernameTaken(Exception):
    """Another account has the username, possibly a deleted one."""


def _credits(limit: Decimal | None) -> list[str]:
    return [] if limit is None else [formatting.plain_number(limit)]


@dataclass(frozen=True, kw_only=True)
class StudentDetails(RecordDetails):
    """Every field of a student that an admin may set; department, majors and minors are codes.

    Completed courses and privacy have forms of their own.
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {
        "name": (_l("Name"), text_lines),
        "number": (_l("Student number"), text_lines),
        "email": (_l("Email"), text_lines),
        "level": (_l("Level"), text_lines),
        "year": (_l("Class year"), text_lines),
        "majors": (_l("Majors"), list),
        "minors": (_l("Minors"), list),
        "degree": (_l("Degree"), text_lines),
        "department": (_l("Department"), text_lines),
        "college": (_l("College"), text_lines),
        "campus": (_l("Campus"), text_lines),
        "credit_limit": (_l("Credit limit"), _credits),
    }

    name: str
    number: str
    email: str = ""
    level: str = ""
    year: str = ""
    majors: tuple[str, ...] = ()
    minors: tuple[str, ...] = ()
    degree: str = ""
    department: str = ""
    college: str = ""
    campus: str = ""
    credit_limit: Decimal | None = None  # None = the term's


def details(session: Session, student: Student) -> StudentDetails:
    department = session.get(Department, student.department_id or 0)
    found = select(StudentSubject.kind, Subject.code).join(Subject)
    rows = session.execute(found.where(StudentSubject.student_id == student.id)).all()
    majors, minors = (
        tuple(sorted(code for each, code in rows if each == kind)) for kind in ("major", "minor")
    )
    return StudentDetails(
        name=student.account.name,
        number=student.number,
        email=student.account.email,
        level=student.level,
        year=student.year,
        majors=majors,
        minors=minors,
        degree=student.degree,
        department=department.code if department else "",
        college=student.college,
        campus=student.campus,
        credit_limit=student.credit_limit,
    )


def find(session: Session, student_id: int) -> Student | None:
    """Return the student unless they are deleted."""
    found = select(Student).where(Student.id == student_id, Student.deleted_at.is_(None))
    return session.scalar(found)


def unknown_subjects(session: Session, codes: tuple[str, ...]) -> list[str]:
    known = select(Subject.code).where(Subject.code.in_(codes), Subject.deleted_at.is_(None))
    found = set(session.scalars(known))
    return [each for each in codes if each not in found]


def create(username: str, wanted: StudentDetails, by: int, reason: str) -> int:
    """Store a new student with a new account, which has no password; return the student's id.

    The same form sent twice creates it once. Raise UsernameTaken, NumberTaken, ChangedMeanwhile.
    """
    try:
        with transaction() as session:
            account = Account(username=username, name=wanted.name, email=wanted.email)
            session.add(account)
            session.flush()
            student = Student(account_id=account.id, account=account)
            _write(session, student, wanted)
            add_audit_entry(
                session,
                "student.create",
                f"student:{student.id} account:{account.id}",
                by=by,
                after={"username": username, **wanted.facts},
                reason=reason,
            )
            return student.id
    except IntegrityError as error:
        if same := _created_before(username, wanted, by):
            return same
        if accounts.username_taken(username):
            raise UsernameTaken from error
        raise NumberTaken from error


def edit(  # noqa: PLR0913, PLR0917  who changes what from what, and why
    session: Session, student_id: int, seen: str, wanted: StudentDetails, by: int, reason: str
) -> bool:
    """Give the student other details; return False if that is done already.

    Raise ChangedMeanwhile if they are no longer as in `seen`, a mark; NumberTaken; and InTheWay if
    something names the number.
    """
    row = select(Student).where(Student.id == student_id).with_for_update()
    student = session.scalars(row).one()
    session.execute(select(Account.id).where(Account.id == student.account_id).with_for_update())
    before = details(session, student)
    if student.deleted_at is None and before == wanted:
        return False
    if student.deleted_at or before.mark != seen:
        raise ChangedMeanwhile
    if found := number_obstacles(session, student_id, before, wanted):
        raise InTheWay(found)
    if not may_change_email(student.account, before, wanted):
        raise ChangedMeanwhile
    try:
        _write(session, student, wanted)
    except IntegrityError as error:
        raise NumberTaken from error
    if before.email != wanted.email:
        signals.email_changed.send(session, student.account_id, before.email)
    add_audit_entry(
        session,
        "student.edit",
        f"student:{student_id}",
        by=by,
        before=before.facts,
        after=wanted.facts,
        reason=reason,
    )
    return True


def may_change_email(account: Account, old: StudentDetails, new: StudentDetails) -> bool:
    """Return whether the change leaves an admin's address as it is, which recovers a password."""
    return old.email == new.email or not account.is_admin


def number_obstacles(
    session: Session, student_id: int, old: StudentDetails, new: StudentDetails
) -> list[Obstacle]:
    """Return what names the number of the student, if it is to change."""
    if old.number == new.number:
        return []
    return find_obstacles(session, USES_OF_NUMBER, student_id, old.number)


def _write(session: Session, student: Student, wanted: StudentDetails) -> None:
    """Write the details. Raise ChangedMeanwhile if a department or subject is deleted."""
    student.account.name, student.account.email = wanted.name, wanted.email
    student.number, student.degree = wanted.number, wanted.degree
    student.level, student.year = wanted.level, wanted.year
    student.college, student.campus = wanted.college, wanted.campus
    student.credit_limit = wanted.credit_limit
    department = select(Department.id).where(
        Department.code == wanted.department, Department.deleted_at.is_(None)
    )
    student.department_id = session.scalar(department) if wanted.department else None
    if wanted.department and student.department_id is None:
        raise ChangedMeanwhile
    session.add(student)
    session.flush()
    rows = _subjects(session, student.id, wanted)
    session.execute(delete(StudentSubject).where(StudentSubject.student_id == student.id))
    if rows:
        session.execute(insert(StudentSubject), rows)


def _subjects(session: Session, student_id: int, wanted: StudentDetails) -> list[dict[str, Any]]:
    codes = {*wanted.majors, *wanted.minors}
    known = select(Subject.code, Subject.id).where(Subject.code.in_(codes))
    ids = dict(session.execute(known.where(Subject.deleted_at.is_(None))).all())
    if codes - ids.keys():
        raise ChangedMeanwhile
    return [
        {"student_id": student_id, "kind": kind, "subject_id": ids[code]}
        for kind, named in (("major", wanted.majors), ("minor", wanted.minors))
        for code in named
    ]


def _created_before(username: str, wanted: StudentDetails, by: int) -> int | None:
    """Return the student if the account has created them by the same form."""
    entry = select(AuditEntry.id).where(
        AuditEntry.action == "student.create",
        AuditEntry.subject == func.concat("student:", Student.id, " account:", Account.id),
        AuditEntry.account_id == by,
    )
    found = (
        select(Student).join(Student.account).where(Account.username == username, entry.exists())
    )
    with transaction() as session:
        student = session.scalar(found.where(Student.deleted_at.is_(None)))
        return student.id if student and details(session, student) == wanted else None
