"""Link accounts to instructors of the catalog; an account may have several of them."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, false, func, literal_column, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Department, Instructor, Section, section_instructors
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.core.sorting import Sorting
from portal.people import visitors
from portal.people.models import Account
from portal.people.signals import sessions_ended

PAGE_SIZE = 50
MAX_WORDS = 6  # of a search; further words are ignored
MAX_SUGGESTIONS = 5


@dataclass(frozen=True)
class InstructorView:
    """An instructor, the number of sections taught, and the linked account if there is one."""

    id: int
    name: str
    email: str
    department: str
    sections: int
    account: int | None
    username: str | None
    account_name: str | None
    decides: bool  # applications, for the department


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
    """Return the instructor with that id."""
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
    """Return the account with that username."""
    known = Account.username == username, Account.deleted_at.is_(None)
    return session.scalar(select(Account).where(*known))


def link(instructor_id: int, account: int, *, by: int, why: str) -> None:
    """Link the account to the instructor; raises ChangedMeanwhile if another account is linked."""
    _relink(instructor_id, None, account, by, why)


def unlink(instructor_id: int, account: int, *, by: int, why: str) -> None:
    """Unlink the account from the instructor, on open pages too; raises ChangedMeanwhile."""
    _relink(instructor_id, account, None, by, why)
    sessions_ended.send(account)


def set_decider(instructor_id: int, account: int, *, decides: bool, by: int, why: str) -> None:
    """Let the account decide applications for the instructor's department, or no longer.

    It takes effect at once: each page asks the database. Raises ChangedMeanwhile.
    """
    with transaction() as session:
        instructor = _locked(session, instructor_id, account)
        if instructor.department_id is None:
            raise ChangedMeanwhile
        decided = instructor.decides_for_id == instructor.department_id
        if decided == decides:
            return
        instructor.decides_for_id = instructor.department_id if decides else None
        add_audit_entry(
            session,
            "teacher.decides",
            f"teacher:{instructor_id} account:{account}",
            by=by,
            before={"decides": decided},
            after={"decides": decides},
            reason=why,
        )
    visitors.forget(account)


def _relink(instructor_id: int, before: int | None, after: int | None, by: int, why: str) -> None:
    with transaction() as session:
        instructor = _locked(session, instructor_id, before)
        decided = instructor.decides_for_id is not None
        instructor.account_id, instructor.decides_for_id = after, None
        add_audit_entry(
            session,
            "teacher.link" if after else "teacher.unlink",
            f"teacher:{instructor_id} account:{after or before}",
            by=by,
            before={"account": before, "decides": decided},
            after={"account": after, "decides": False},
            reason=why,
        )


def _locked(session: Session, instructor_id: int, account: int | None) -> Instructor:
    """Return the instructor, locked; raise ChangedMeanwhile if another account is linked."""
    known = Instructor.id == instructor_id, Instructor.deleted_at.is_(None)
    instructor = session.scalar(select(Instructor).where(*known).with_for_update())
    if instructor is None or instructor.account_id != account:
        raise ChangedMeanwhile
    return instructor


def _select() -> Select[int, str, str, str, int, int | None, str | None, str | None, bool]:
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
    decides = func.coalesce(Instructor.decides_for_id == Instructor.department_id, false())
    account = Instructor.account_id, Account.username, Account.name, decides
    return (
        select(Instructor.id, Instructor.name, Instructor.email, department, taught, *account)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .outerjoin(Account, Account.id == Instructor.account_id)
        .where(Instructor.deleted_at.is_(None))
    )


def _matches(word: str) -> ColumnElement[bool]:
    columns = (Instructor.name, Department.name, Department.code, Account.username)
    return or_(*(column.icontains(word, autoescape=True) for column in columns))
