"""Instructors of the catalog: created, edited, deleted, and linked to accounts.

An account may have several instructors.
"""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, literal_column, or_, select, update
from sqlalchemy.orm import Session, aliased

from portal.catalog import deletion
from portal.catalog.deletion import SECTIONS, Dependency, InTheWay, Obstacle, find_obstacles
from portal.catalog.models import Department, Instructor, Section, Term, section_instructors
from portal.catalog.record_details import (
    RecordChange,
    RecordDetails,
    by_code,
    described,
    text,
)
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.i18n import _l
from portal.core.sorting import Sorting
from portal.people import visitors
from portal.people.models import Account

PAGE_SIZE = 50
MAX_WORDS = 6  # of a search; further words are ignored
MAX_SUGGESTIONS = 5


@dataclass(frozen=True)
class InstructorView:
    """An instructor, the number of sections taught, and the linked account if there is one.

    The account decides applications for the department of `right_code` and `right_for`, but only
    while the instructor is of it; both are blank if it has no such right.
    """

    id: int
    name: str
    email: str
    department: str
    sections: int
    account: int | None
    username: str | None
    account_name: str | None
    department_code: str
    right_code: str
    right_for: str

    @property
    def decides(self) -> bool:
        """Return whether the account decides applications for the department now."""
        return bool(self.right_code) and self.right_code == self.department_code


@dataclass(frozen=True, kw_only=True)
class InstructorDetails(RecordDetails):
    """The fields of an instructor that an admin may set; the department is a code."""

    name: str = text(_l("Name"), 160, missing=_l("Enter a name."))
    email: str = text(_l("Email"), 254, typed_as="email")
    department: str = described("", _l("Department"), typed_as="choice")


TAUGHT = Dependency(
    _l("Sections"),
    f"{SECTIONS} AND EXISTS (SELECT FROM section_instructors"
    " WHERE section_id = sections.id AND instructor_id = :id)",
)

# Columns that sort a list of instructors.
SORTS: dict[str, ColumnElement[Any]] = {
    "name": Instructor.name.expression,
    "department": literal_column("department"),
    "sections": literal_column("sections"),
    "account": Account.name.expression,
}


def search(
    session: Session, text: str, page: int, sorting: Sorting, *, without: bool
) -> tuple[list[InstructorView], bool]:
    """Return a page of the instructors who match every word, and whether more follow.

    `without` leaves out those with an account.
    """
    query = _select().where(*map(_matches, text.split()[:MAX_WORDS]))
    if without:
        query = query.where(Instructor.account_id.is_(None))
    column = SORTS[sorting.key]
    first = column.desc() if sorting.down else column.asc()
    query = query.order_by(first.nulls_last(), Instructor.name, Department.code, Instructor.id)
    rows = session.execute(query.offset((page - 1) * PAGE_SIZE).limit(PAGE_SIZE + 1))
    found = [InstructorView(*row) for row in rows]
    return found[:PAGE_SIZE], len(found) > PAGE_SIZE


def find(session: Session, instructor_id: int) -> InstructorView | None:
    row = session.execute(_select().where(Instructor.id == instructor_id)).one_or_none()
    return InstructorView(*row) if row else None


def of_account(session: Session, account: int) -> list[InstructorView]:
    """Return all instructors that the account is linked to."""
    query = _select().where(Instructor.account_id == account).order_by(Instructor.id)
    return [InstructorView(*row) for row in session.execute(query)]


def suggested_accounts(session: Session, instructor: InstructorView) -> list[Account]:
    """Return accounts with the instructor's name or email address."""
    same = [func.lower(Account.name) == instructor.name.lower()]
    if instructor.email:
        same.append(func.lower(Account.email) == instructor.email.lower())
    query = select(Account).where(or_(*same), Account.deleted_at.is_(None))
    return list(session.scalars(query.order_by(Account.username).limit(MAX_SUGGESTIONS)))


def account_of(session: Session, username: str) -> Account | None:
    known = Account.username == username, Account.deleted_at.is_(None)
    return session.scalar(select(Account).where(*known))


def details(session: Session, instructor: Instructor) -> InstructorDetails:
    return InstructorDetails(
        name=instructor.name,
        email=instructor.email,
        department=_code(session, instructor.department_id) or "",
    )


def namesakes(session: Session, wanted: InstructorDetails, other_than: int = 0) -> bool:
    """Return whether another instructor of the department has the name."""
    found = select(Instructor.id).outerjoin(Department, Department.id == Instructor.department_id)
    same = Instructor.name == wanted.name, Instructor.deleted_at.is_(None)
    where = func.coalesce(Department.code, "") == wanted.department
    return session.scalar(found.where(*same, where, Instructor.id != other_than)) is not None


def create(change: RecordChange[InstructorDetails]) -> int:
    """Store a new instructor; return the id.

    Raise ChangedMeanwhile if the department is deleted, or has such an instructor already.
    """
    with transaction() as session:
        deletion.lock_terms(session)
        if namesakes(session, change.wanted):
            raise ChangedMeanwhile
        instructor = Instructor()
        _write(session, instructor, change.wanted)
        session.add(instructor)
        session.flush()
        change.note(session, "teacher.create", f"teacher:{instructor.id}")
        return instructor.id


def edit(instructor_id: int, change: RecordChange[InstructorDetails]) -> None:
    """Give the instructor other details; do nothing if that is done already.

    Raise ChangedMeanwhile if they are no longer those seen, or if the department is deleted or has
    such an instructor already.
    """
    with transaction() as session:
        deletion.lock_terms(session)
        instructor = session.get_one(Instructor, instructor_id, with_for_update=True)
        before = details(session, instructor)
        if not change.differs(before, instructor.deleted_at):
            return
        if namesakes(session, change.wanted, instructor_id):
            raise ChangedMeanwhile
        _write(session, instructor, change.wanted)
        _renew_catalogs(session, instructor_id)
        change.note(session, "teacher.edit", f"teacher:{instructor_id}", before)
    if instructor.account_id:
        visitors.forget(instructor.account_id)


def obstacles(session: Session, instructor_id: int) -> list[Obstacle]:
    """Return the sections that the instructor teaches or will teach."""
    return find_obstacles(session, [TAUGHT], instructor_id, "")


def remove(instructor_id: int, by: int, reason: str) -> None:
    """Delete the instructor; do nothing if that is done. Raise InTheWay."""
    with transaction() as session:
        deletion.lock_terms(session)
        instructor = session.get_one(Instructor, instructor_id, with_for_update=True)
        if instructor.deleted_at:
            return
        if found := obstacles(session, instructor_id):
            raise InTheWay(found)
        instructor.deleted_at = datetime.now(UTC)
        _renew_catalogs(session, instructor_id)
        deletion.note_change(session, f"teacher:{instructor_id}", delete=True, by=by, reason=reason)
    if instructor.account_id:
        visitors.forget_everywhere(instructor.account_id)


def _renew_catalogs(session: Session, instructor_id: int) -> None:
    """Have every process read the catalogs in which the instructor's name stands."""
    taught = select(Section.term_id).join(
        section_instructors, section_instructors.c.section_id == Section.id
    )
    mine = taught.where(section_instructors.c.instructor_id == instructor_id)
    newer = update(Term).values(catalog_version=Term.catalog_version + 1)
    session.execute(newer.where(Term.id.in_(mine)))


def _write(session: Session, instructor: Instructor, wanted: InstructorDetails) -> None:
    instructor.name, instructor.email = wanted.name, wanted.email
    departments = by_code(session, Department, {wanted.department} - {""})
    instructor.department_id = departments[wanted.department].id if departments else None


def link(instructor_id: int, account: int, *, by: int, why: str) -> None:
    """Link the account to the instructor; raises ChangedMeanwhile if another account is linked."""
    _relink(instructor_id, None, account, by, why)


def unlink(instructor_id: int, account: int, *, by: int, why: str) -> None:
    """Unlink the account from the instructor, on open pages too; raises ChangedMeanwhile."""
    _relink(instructor_id, account, None, by, why)
    visitors.forget_everywhere(account)


def let_decide(instructor_id: int, account: int, department: str, *, by: int, why: str) -> None:
    """Let the account decide applications for the instructor's department.

    `department` is the code that the admin saw. It takes effect with the next request: each page
    asks the database. Raises ChangedMeanwhile.
    """
    with transaction() as session:
        instructor = _locked(session, instructor_id, account)
        if not department or _code(session, instructor.department_id) != department:
            raise ChangedMeanwhile
        _set_right(session, instructor, instructor.department_id, by, why)
    visitors.forget(account)


def stop_deciding(instructor_id: int, account: int, department: str, *, by: int, why: str) -> None:
    """End the right to decide, also one for a department that the instructor has left.

    `department` is the code of the right that the admin saw. Raises ChangedMeanwhile if the right
    is for another one now.
    """
    with transaction() as session:
        instructor = _locked(session, instructor_id, account)
        if _code(session, instructor.decides_for_id) not in {None, department}:
            raise ChangedMeanwhile
        _set_right(session, instructor, None, by, why)
    visitors.forget(account)


def _set_right(
    session: Session, instructor: Instructor, department: int | None, by: int, why: str
) -> None:
    """Set the department that the account decides for, with an entry in the audit trail."""
    before = instructor.decides_for_id
    if before != department:
        instructor.decides_for_id = department
        add_audit_entry(
            session,
            "teacher.decides",
            f"teacher:{instructor.id} account:{instructor.account_id}",
            by=by,
            before={"decides": _code(session, before)},
            after={"decides": _code(session, department)},
            reason=why,
        )


def _relink(instructor_id: int, before: int | None, after: int | None, by: int, why: str) -> None:
    with transaction() as session:
        instructor = _locked(session, instructor_id, before)
        decided = _code(session, instructor.decides_for_id)
        instructor.account_id, instructor.decides_for_id = after, None
        add_audit_entry(
            session,
            "teacher.link" if after else "teacher.unlink",
            f"teacher:{instructor_id} account:{after or before}",
            by=by,
            before={"account": before, "decides": decided},
            after={"account": after, "decides": None},
            reason=why,
        )


def _locked(session: Session, instructor_id: int, account: int | None) -> Instructor:
    """Return the instructor, locked; raise ChangedMeanwhile if another account is linked."""
    known = Instructor.id == instructor_id, Instructor.deleted_at.is_(None)
    instructor = session.scalar(select(Instructor).where(*known).with_for_update())
    if instructor is None or instructor.account_id != account:
        raise ChangedMeanwhile
    return instructor


def _code(session: Session, department: int | None) -> str | None:
    return session.scalar(select(Department.code).where(Department.id == department))


def _select() -> Select[int, str, str, str, int, int | None, str | None, str | None, str, str, str]:
    taught = (
        select(func.count())
        .select_from(section_instructors)
        .join(Section, Section.id == section_instructors.c.section_id)
        .where(section_instructors.c.instructor_id == Instructor.id, Section.deleted_at.is_(None))
        .correlate(Instructor)
        .scalar_subquery()
        .label("sections")
    )
    department = func.coalesce(Department.name, "").label("department")
    decides_for = aliased(Department)
    account = Instructor.account_id, Account.username, Account.name
    right = (
        func.coalesce(Department.code, ""),
        func.coalesce(decides_for.code, ""),
        func.coalesce(decides_for.name, ""),
    )
    person = Instructor.id, Instructor.name, Instructor.email
    return (
        select(*person, department, taught, *account, *right)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .outerjoin(decides_for, decides_for.id == Instructor.decides_for_id)
        .outerjoin(Account, Account.id == Instructor.account_id)
        .where(Instructor.deleted_at.is_(None))
    )


def _matches(word: str) -> ColumnElement[bool]:
    columns = (Instructor.name, Department.name, Department.code, Account.username)
    return or_(*(column.icontains(word, autoescape=True) for column in columns))
