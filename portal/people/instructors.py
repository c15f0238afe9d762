"""Which account teaches as which teachers of the catalogue; one may have several of them."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, func, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Department, Section, section_teachers
from portal.core.db import transaction
from portal.live.publish import sessions_ended
from portal.people.models import Account, AuditEntry, Instructor

PAGE = 50
WORDS = 6  # more of them find nobody else
SUGGESTED = 5


class StaleLink(Exception):  # noqa: N818  a fact, not a mistake
    """Somebody else has linked or unlinked the teacher since the page was shown."""


@dataclass(frozen=True)
class InstructorView:
    """A teacher, of how many sections, and the account that teaches so, if any does."""

    id: int
    name: str
    email: str
    department: str
    sections: int
    account: int | None
    username: str | None
    account_name: str | None


def search(
    session: Session, text: str, page: int, *, without: bool
) -> tuple[list[InstructorView], bool]:
    """Those whom every word fits, by name, and whether there are more; `without` an account."""
    found = _teachers().where(*map(_fits, text.split()[:WORDS]))
    if without:
        found = found.where(Instructor.account_id.is_(None))
    found = found.order_by(Instructor.name, Department.code, Instructor.id)
    rows = session.execute(found.offset((page - 1) * PAGE).limit(PAGE + 1))
    lines = [InstructorView(*row) for row in rows]
    return lines[:PAGE], len(lines) > PAGE


def find(session: Session, teacher_id: int) -> InstructorView | None:
    """The teacher of that id."""
    row = session.execute(_teachers().where(Instructor.id == teacher_id)).one_or_none()
    return InstructorView(*row) if row else None


def of_account(session: Session, account: int) -> list[InstructorView]:
    """All teachers whom that account teaches as."""
    found = _teachers().where(Instructor.account_id == account).order_by(Instructor.id)
    return [InstructorView(*row) for row in session.execute(found)]


def suggested_accounts(session: Session, line: InstructorView) -> list[Account]:
    """Accounts of the same name or address."""
    same = [func.lower(Account.name) == line.name.lower()]
    if line.email:
        same.append(func.lower(Account.email) == line.email.lower())
    found = select(Account).where(or_(*same), Account.deleted_at.is_(None))
    return list(session.scalars(found.order_by(Account.username).limit(SUGGESTED)))


def account_of(session: Session, username: str) -> Account | None:
    """The account of that user name."""
    known = Account.username == username, Account.deleted_at.is_(None)
    return session.scalar(select(Account).where(*known))


def link(teacher_id: int, account: int, *, by: int, why: str) -> None:
    """Have the account teach as that teacher; raises Meanwhile where another does."""
    _move(teacher_id, None, account, by, why)


def unlink(teacher_id: int, account: int, *, by: int, why: str) -> None:
    """Have the account do so no more, also on its open pages; raises Meanwhile."""
    _move(teacher_id, account, None, by, why)
    sessions_ended(account)


def _move(teacher_id: int, before: int | None, after: int | None, by: int, why: str) -> None:
    with transaction() as session:
        known = Instructor.id == teacher_id, Instructor.deleted_at.is_(None)
        found = session.scalar(select(Instructor).where(*known).with_for_update())
        if found is None or found.account_id != before:
            raise StaleLink
        found.account_id = after
        session.add(
            AuditEntry(
                account_id=by,
                action="teacher.link" if after else "teacher.unlink",
                subject=f"teacher:{teacher_id} account:{after or before}",
                before={"account": before},
                after={"account": after},
                reason=why,
            )
        )


def _teachers() -> Select[int, str, str, str, int, int | None, str | None, str | None]:
    taught = (
        select(func.count())
        .select_from(section_teachers)
        .join(Section, Section.id == section_teachers.c.section_id)
        .where(section_teachers.c.teacher_id == Instructor.id, Section.deleted_at.is_(None))
        .correlate(Instructor)
        .scalar_subquery()
    )
    department = func.coalesce(Department.name, "")
    account = Instructor.account_id, Account.username, Account.name
    return (
        select(Instructor.id, Instructor.name, Instructor.email, department, taught, *account)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .outerjoin(Account, Account.id == Instructor.account_id)
        .where(Instructor.deleted_at.is_(None))
    )


def _fits(word: str) -> ColumnElement[bool]:
    columns = (Instructor.name, Department.name, Department.code, Account.username)
    return or_(*(column.icontains(word, autoescape=True) for column in columns))
