"""Visitors: the name and roles of an account, which every request needs; cached."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, func, select

from portal.catalog.models import Instructor
from portal.core.db import read_only
from portal.people import caches
from portal.people.models import ACTIVE, Account, Student
from portal.people.roles import DEPARTMENTAL, STAFF_ROLES, Right, is_staff, rights_of
from portal.people.signals import sessions_ended

APPLICANT = frozenset({"applicant"})  # of an account without another role, or that signed up
SERVICE = frozenset({"service"})  # the only role of a program's account


@dataclass(frozen=True)
class Visitor:
    """An account, as Flask-Login's user: its name, roles and live sessions."""

    id: int
    name: str
    roles: frozenset[str]
    student_id: int | None
    instructor_ids: frozenset[int]
    epoch: int
    language: str = ""  # empty = as the browser prefers
    ended: frozenset[str] = frozenset()  # sessions that were logged out early
    departments: frozenset[int] = frozenset()  # whose sections they schedule
    decides: bool = False  # applications, for a department; for menus, not for rights
    viewer: "Visitor | None" = None  # who sees the pages in this student's place, read only

    is_authenticated = True
    is_active = True
    is_anonymous = False

    def may(self, *rights: str) -> bool:
        """Return whether one of the roles has one of the rights; ValueError for an unknown one."""
        return any(Right(right) in rights_of(self.roles) for right in rights)

    def may_in(self, right: str, department: int) -> bool:
        """Return whether the visitor has the right for sections of that department."""
        scheduled = right in DEPARTMENTAL and department in self.departments
        return scheduled or self.may(right)

    @property
    def is_staff(self) -> bool:
        """Return whether one of the roles opens pages for admins."""
        return is_staff(self.roles)

    @property
    def actor(self) -> int:
        """Return the account that asks: the viewer's, if there is one."""
        return self.viewer.id if self.viewer else self.id

    def has(self, epoch: int, session: str) -> bool:
        """Return whether the session with that epoch and name is live."""
        return self.epoch == epoch and session not in self.ended

    def get_id(self) -> str:
        """Return what the session cookie stores; a session ends with its epoch."""
        return f"{self.id}.{self.epoch}"


def from_session(stored: str, name: str = "") -> Visitor | None:
    """Return the visitor of a session, given what `get_id` returned; None if it has ended."""
    account, _, epoch = stored.partition(".")
    if not (account.isdecimal() and epoch.isdecimal()):
        return None
    found = find(int(account))
    return found if found and found.has(int(epoch), name) else None


def find(account_id: int) -> Visitor | None:
    """Return the account's visitor, at most 2 s out of date while PostgreSQL is reachable.

    Live updates report ended sessions at once while the ledger is reachable (portal/live/hub.py).
    """
    caches.refresh()
    return _visitors.get(account_id)


def forget(account_id: int) -> None:
    """Read the account again when it is next needed."""
    _visitors.forget(account_id)


def forget_everywhere(account_id: int) -> None:
    """Have every process read the account again, as it has lost a session or a role."""
    forget(account_id)
    sessions_ended.send(account_id)


def doubt(account_id: int) -> None:
    """Read the account again when it is next needed, but keep the cached one as a fallback."""
    _visitors.doubt(account_id)


def preload() -> None:
    """Read students' visitors in bulk before many of them arrive at once."""
    caches.preload(_visitors, _read_batch)


def read(which: ColumnElement[bool]) -> Visitor | None:
    """Return the visitor of the one account that matches, from the database."""
    return next(iter(_found(_accounts().where(which)).values()), None)


def _read_one(account_id: int) -> Visitor | None:
    return _found(_one_account(), account=account_id).get(account_id)


def _read_many(account_ids: Collection[int]) -> dict[int, Visitor | None]:
    found = _found(_some_accounts(), accounts=list(account_ids))
    return {account: found.get(account) for account in account_ids}


def _read_batch(after: int) -> dict[int, Visitor | None]:
    students = _accounts().where(Student.id.is_not(None), Account.id > after)
    return {**_found(students.limit(caches.BATCH))}


_visitors = caches.register("account", _read_one, _read_many)


def _found(query: Select[*tuple[Any, ...]], **values: Any) -> dict[int, Visitor]:
    with read_only() as db:
        return {row.id: _visitor(row) for row in db.execute(query, values)}


# Statements that are read often are made once: making one takes as long as reading its row.


@cache
def _one_account() -> Select[*tuple[Any, ...]]:
    return _accounts().where(Account.id == bindparam("account"))


@cache
def _some_accounts() -> Select[*tuple[Any, ...]]:
    return _accounts().where(Account.id.in_(bindparam("accounts", expanding=True)))


@cache
def _accounts() -> Select[*tuple[Any, ...]]:
    """Return the query of all accounts that may log in, with what their visitors need."""
    teaches = (Instructor.account_id == Account.id) & Instructor.deleted_at.is_(None)
    instructors = select(func.array_agg(Instructor.id)).where(teaches).correlate(Account)
    theirs = Instructor.decides_for_id == Instructor.department_id
    decides = select(func.bool_or(theirs)).where(teaches).correlate(Account)
    return (
        select(
            Account.id,
            Account.name,
            Account.is_admin,
            Account.staff_roles,
            Account.schedules_for,
            Account.is_service,
            # Accounts that signed up have their mail address as user name.
            (Account.username == Account.email).label("signed_up"),
            Account.session_epoch,
            Account.ended_sessions,
            Account.language,
            Student.id.label("student"),
            instructors.scalar_subquery().label("instructors"),
            decides.scalar_subquery().label("decides"),
        )
        .outerjoin(Student, (Student.account_id == Account.id) & Student.deleted_at.is_(None))
        .where(ACTIVE)
        .order_by(Account.id)
    )


def _visitor(row: Any) -> Visitor:
    has = {"student": row.student, "instructor": row.instructors, "admin": row.is_admin}
    has["scheduler"] = row.schedules_for
    given = frozenset(row.staff_roles) & frozenset(STAFF_ROLES)
    own = frozenset(role for role, held in has.items() if held)
    applies = row.signed_up and not own & {"student", "instructor", "admin"}
    roles = own | given | APPLICANT if applies else own | given or APPLICANT
    return Visitor(
        id=row.id,
        name=row.name,
        roles=SERVICE if row.is_service else roles,
        student_id=row.student,
        instructor_ids=frozenset(row.instructors or ()),
        departments=frozenset(row.schedules_for),
        epoch=row.session_epoch,
        language=row.language,
        ended=frozenset(row.ended_sessions),
        decides=bool(row.decides),
    )
