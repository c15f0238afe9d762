"""Accounts as every request needs them: who it is and which roles it has, cached for 2 seconds."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, func, select

from portal.core.db import transaction
from portal.people import caches
from portal.people.models import Account, Instructor, Student


@dataclass(frozen=True)
class Visitor:
    """An account as every request needs it: who it is and what roles it has."""

    id: int
    name: str
    roles: frozenset[str]
    student_id: int | None
    teacher_ids: frozenset[int]
    epoch: int
    language: str = ""  # blank = as the browser says
    ended: frozenset[str] = frozenset()  # sessions that were logged out before their time

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def has(self, epoch: int, session: str) -> bool:
        """Return whether the session of that epoch and name goes on."""
        return self.epoch == epoch and session not in self.ended

    def get_id(self) -> str:
        """What a session keeps; it ends with the epoch that it was begun in."""
        return f"{self.id}.{self.epoch}"


def from_session(kept: str, name: str = "") -> Visitor | None:
    """The visitor of the session of that name, unless it or all of the account have been ended."""
    account, _, epoch = kept.partition(".")
    if not (account.isdecimal() and epoch.isdecimal()):
        return None
    found = find(int(account))
    return found if found and found.has(int(epoch), name) else None


def find(account_id: int) -> Visitor | None:
    """The account's visitor, at most 2 s behind, more only while PostgreSQL is away.

    That sessions were ended is heard at once (portal/live/hub.py), where the ledger is reached.
    """
    caches.refresh()
    return _visitors.get(account_id)


def forget(account_id: int) -> None:
    """Read the account anew when it is next asked for."""
    _visitors.forget(account_id)


def doubt(account_id: int) -> None:
    """The same, unless PostgreSQL is away."""
    _visitors.doubt(account_id)


def preload() -> None:
    """Read the visitors who are students, so that a rush finds them."""
    caches.preload(_visitors, _batch)


def read(which: ColumnElement[bool]) -> Visitor | None:
    """The visitor of the one account that fits, from the database."""
    with transaction() as session:
        row = session.execute(_those(which)).one_or_none()
    return _visitor(row) if row else None


def _batch(after: int) -> dict[int, Visitor | None]:
    mine = Student.id.is_not(None), Account.id > after
    asked = _those(*mine).order_by(Account.id).limit(caches.BATCH)
    with transaction() as session:
        return {row.id: _visitor(row) for row in session.execute(asked)}


def _those(*which: ColumnElement[bool]) -> Select[Any]:
    columns = (
        Account.id,
        Account.name,
        Account.is_admin,
        Account.session_epoch,
        Account.ended_sessions,
        Account.language,
    )
    return (
        select(*columns, Student.id.label("student"), _teachers().label("teachers"))
        .outerjoin(Student, (Student.account_id == Account.id) & Student.deleted_at.is_(None))
        .where(*which, Account.deleted_at.is_(None))
    )


def _teachers() -> ColumnElement[Any]:
    mine = (Instructor.account_id == Account.id) & Instructor.deleted_at.is_(None)
    return select(func.array_agg(Instructor.id)).where(mine).correlate(Account).scalar_subquery()


def _visitor(row: Row[Any]) -> Visitor:
    has = {"student": row.student, "instructor": row.teachers, "admin": row.is_admin}
    return Visitor(
        id=row.id,
        name=row.name,
        roles=frozenset(role for role, held in has.items() if held),
        student_id=row.student,
        teacher_ids=frozenset(row.teachers or ()),
        epoch=row.session_epoch,
        language=row.language,
        ended=frozenset(row.ended_sessions),
    )


def _of_account(account_id: int) -> Visitor | None:
    return read(Account.id == account_id)


def _of_accounts(account_ids: Collection[int]) -> dict[int, Visitor | None]:
    with transaction() as session:
        found = session.execute(_those(Account.id.in_(account_ids)))
        known = {row.id: _visitor(row) for row in found}
    return {account: known.get(account) for account in account_ids}


_visitors = caches.register("account", _of_account, _of_accounts)
