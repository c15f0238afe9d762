"""Students: their accounts and records created and edited by admins."""

from contextlib import suppress

from sqlalchemy import delete, func, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog.deletion import Dependency, InTheWay, Obstacle, find_obstacles
from portal.catalog.models import Department, Subject
from portal.catalog.record_details import RecordChange, Taken, by_code
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _l
from portal.people import signals
from portal.people.accounts import lock_accounts, username_taken
from portal.people.models import Account, Student, StudentSubject
from portal.people.student_fields import StudentDetails

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


def details(session: Session, student: Student) -> StudentDetails:
    department = session.get(Department, student.department_id or 0)
    found = select(StudentSubject.kind, Subject.code).join(Subject)
    rows = session.execute(found.where(StudentSubject.student_id == student.id)).all()
    majors, minors = (
        tuple(sorted(code for each, code in rows if each == kind)) for kind in ("major", "minor")
    )
    return StudentDetails(
        **StudentDetails.plain_values(student),
        name=student.account.name,
        email=student.account.email,
        majors=majors,
        minors=minors,
        department=department.code if department else "",
    )


def find(session: Session, student_id: int) -> Student | None:
    """Return the student unless they are deleted."""
    found = select(Student).where(Student.id == student_id, Student.deleted_at.is_(None))
    return session.scalar(found)


def unknown_subjects(session: Session, codes: tuple[str, ...]) -> list[str]:
    known = select(Subject.code).where(Subject.code.in_(codes), Subject.deleted_at.is_(None))
    found = set(session.scalars(known))
    return [each for each in codes if each not in found]


def create(username: str, change: RecordChange[StudentDetails]) -> int:
    """Store a new student with a new account, which has no password; return the student's id.

    The same form sent twice creates it once. Raise Taken or ChangedMeanwhile.
    """
    wanted = change.wanted
    # An import may take the username, and another student may have the number.
    with suppress(IntegrityError), transaction() as session:
        lock_accounts(session)
        if not username_taken(session, username):
            account = Account(username=username, name=wanted.name, email=wanted.email)
            session.add(account)
            session.flush()
            student = Student(account_id=account.id, account=account)
            _write(session, student, wanted)
            subject = f"student:{student.id} account:{account.id}"
            change.note(session, "student.create", subject, username=username)
            return student.id
    if same := _created_before(username, change):
        return same
    raise Taken


def edit(session: Session, student_id: int, change: RecordChange[StudentDetails]) -> None:
    """Give the student other details; do nothing if that is done already.

    Raise ChangedMeanwhile if they are no longer those seen, Taken, and InTheWay if something names
    the number.
    """
    row = select(Student).where(Student.id == student_id).with_for_update()
    student = session.scalars(row).one()
    session.execute(select(Account.id).where(Account.id == student.account_id).with_for_update())
    before, wanted = details(session, student), change.wanted
    if not change.differs(before, student.deleted_at):
        return
    if found := number_obstacles(session, student_id, before, wanted):
        raise InTheWay(found)
    if not may_change_email(student.account, before, wanted):
        raise ChangedMeanwhile
    try:
        _write(session, student, wanted)
    except IntegrityError as error:
        raise Taken from error
    if before.email != wanted.email:
        signals.email_changed.send(session, student.account_id, before.email)
    change.note(session, "student.edit", f"student:{student_id}", before)


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
    wanted.write_plain(student)
    session.add(student)
    departments = by_code(session, Department, {wanted.department} - {""})
    student.department_id = departments[wanted.department].id if departments else None
    session.flush()
    subjects = by_code(session, Subject, [*wanted.majors, *wanted.minors])
    rows = [
        {"student_id": student.id, "kind": kind, "subject_id": subjects[code].id}
        for kind, named in (("major", wanted.majors), ("minor", wanted.minors))
        for code in named
    ]
    session.execute(delete(StudentSubject).where(StudentSubject.student_id == student.id))
    if rows:
        session.execute(insert(StudentSubject), rows)


def _created_before(username: str, change: RecordChange[StudentDetails]) -> int | None:
    """Return the student if the account has created them by the same form."""
    subject = func.concat("student:", Student.id, " account:", Account.id)
    made = change.made_before("student.create", subject)
    found = select(Student).join(Student.account).where(Account.username == username, made)
    with transaction() as session:
        student = session.scalar(found.where(Student.deleted_at.is_(None)))
        return student.id if student and details(session, student) == change.wanted else None
