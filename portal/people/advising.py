"""Advisers: who advises which student."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.people.models import Account, Student
from portal.people.roles import Right
from portal.people.student_profile import is_advised_by, is_adviser
from portal.people.visitors import Visitor


class NotAnAdviser(LookupError):
    """There is no account with that username and the role of an adviser."""


class OwnAdviser(ValueError):
    """The account is the student's own."""


def advises(visitor: Visitor, student: int) -> bool:
    """Return whether the visitor is the student's adviser, and still has that role."""
    if not visitor.may(Right.ADVISE):
        return False
    mine = Student.id == student, Student.deleted_at.is_(None), is_advised_by(visitor.id)
    with transaction() as session:
        return session.scalar(select(Student.id).where(*mine)) is not None


def advisers() -> dict[str, str]:
    """Return the names of all advisers by username, sorted by name."""
    query = select(Account.username, Account.name).where(is_adviser(Account))
    with transaction() as session:
        found = session.execute(query.order_by(Account.name, Account.username))
        return {row.username: row.name for row in found}


def assign(student: int, seen: int, username: str, *, by: int, why: str) -> None:
    """Give a student the adviser of that username, or none if it is blank.

    `seen` is the id of the adviser that the admin saw, 0 for none. Raises ChangedMeanwhile,
    NotAnAdviser, or OwnAdviser.
    """
    with transaction() as session:
        advised = session.get(Student, student, with_for_update=True)
        if advised is None or advised.deleted_at:
            raise ChangedMeanwhile
        adviser, before = _adviser(session, username), advised.adviser_id
        if before == adviser:
            return
        if adviser == advised.account_id:
            raise OwnAdviser(username)
        if (before or 0) != seen:
            raise ChangedMeanwhile
        advised.adviser_id = adviser
        add_audit_entry(
            session,
            "student.adviser",
            f"student:{student}",
            by=by,
            before={"adviser": _username(session, before)},
            after={"adviser": _username(session, adviser)},
            reason=why,
        )


def _adviser(session: Session, username: str) -> int | None:
    """Return the account's id; locked, so that its role can't end before the commit."""
    if not username:
        return None
    query = select(Account.id).where(Account.username == username, is_adviser(Account))
    found = session.scalar(query.with_for_update(read=True))
    if found is None:
        raise NotAnAdviser(username)
    return found


def _username(session: Session, account: int | None) -> str | None:
    return session.scalar(select(Account.username).where(Account.id == account))
