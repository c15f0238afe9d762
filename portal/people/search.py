"""Finding students by number, name or e-mail, a page at a time."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from portal.people.models import Account, Student

PAGE = 50
WORDS = 6  # more of them find nobody else


@dataclass(frozen=True)
class Found:
    """A student as a list names one."""

    id: int
    name: str
    number: str
    email: str
    year: str
    level: str


def students(session: Session, text: str, page: int) -> tuple[list[Found], bool]:
    """Those whom every word of the text fits, by name, and whether there are more pages."""
    found = (
        select(Student.id, Account.name, Student.number, Account.email, Student.year, Student.level)
        .join(Account, Account.id == Student.account_id)
        .where(Student.deleted_at.is_(None), *map(_fits, text.split()[:WORDS]))
        .order_by(Account.name, Student.number)
        .offset((page - 1) * PAGE)
        .limit(PAGE + 1)
    )
    rows = [Found(*row) for row in session.execute(found)]
    return rows[:PAGE], len(rows) > PAGE


def by_number(session: Session, number: str) -> int | None:
    """The id of the student who has exactly this number."""
    return session.scalar(
        select(Student.id).where(Student.number == number, Student.deleted_at.is_(None))
    )


def _fits(word: str) -> ColumnElement[bool]:
    return or_(
        Student.number.istartswith(word, autoescape=True),
        Account.name.icontains(word, autoescape=True),
        Account.email.icontains(word, autoescape=True),
        Account.username.istartswith(word, autoescape=True),
    )
