"""Staff: accounts that are admins or have roles below that, and changes of these roles."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.orm import Session

from portal.catalog.models import Department
from portal.core.audit_trail import add_audit_entry
from portal.core.db import ChangedMeanwhile, transaction
from portal.people import visitors
from portal.people.models import PERSON, Account
from portal.people.roles import ROLES, STAFF_ROLES, in_order


@dataclass(frozen=True)
class Grant:
    """The roles below admin of an account, and the ids of the departments that it schedules."""

    roles: frozenset[str] = frozenset()
    departments: frozenset[int] = frozenset()

    def minus(self, other: "Grant") -> "Grant":
        """Return what the other grant lacks."""
        return Grant(self.roles - other.roles, self.departments - other.departments)


NOTHING = Grant()


@dataclass(frozen=True)
class StaffMember:
    """An account and its roles for staff."""

    id: int
    username: str
    name: str
    is_admin: bool
    has: Grant

    @property
    def roles(self) -> list[str]:
        """Return all of its roles for staff in their usual order."""
        held = {"admin": self.is_admin, "scheduler": self.has.departments}
        return [role for role in ROLES if held.get(role) or role in self.has.roles]


def departments() -> dict[int, str]:
    """Return the names of all departments by id, sorted."""
    query = select(Department.id, Department.name).where(Department.deleted_at.is_(None))
    with transaction() as session:
        return {row.id: row.name for row in session.execute(query.order_by(Department.name))}


def department_codes(session: Session, departments: Collection[int]) -> list[str]:
    """Return the codes of departments with these ids, sorted."""
    codes = select(Department.code).where(Department.id.in_(departments))
    return list(session.scalars(codes.order_by(Department.code)))


def everyone() -> list[StaffMember]:
    """Return all staff by name."""
    given = func.cardinality(Account.staff_roles) + func.cardinality(Account.schedules_for)
    return _find(or_(Account.is_admin, given > 0))


def find(account_id: int) -> StaffMember | None:
    """Return an account with its roles, also if it has none."""
    return next(iter(_find(Account.id == account_id)), None)


def find_by_name(username: str) -> StaffMember | None:
    return next(iter(_find(Account.username == username)), None)


def role_labels(account: Account) -> list[str]:
    """Return what people call the account's roles; none if an admin has yet to give it one."""
    known = visitors.find(account.id) or find(account.id)
    held = set(known.roles if known else ())
    if account.username != account.email:  # made by an admin, not signed up to apply
        held.discard("applicant")
    return [str(role.label) for name, role in ROLES.items() if name in held]


def change_roles(account_id: int, seen: Grant, wanted: Grant, *, by: int | None, why: str) -> None:
    """Give an account other roles below admin; if it loses one, all its sessions end.

    `seen` is what the admin saw. Raises ChangedMeanwhile if there are others now.
    """
    with transaction() as session:
        query = select(Account).where(Account.id == account_id, *PERSON).with_for_update()
        account = session.scalar(query)
        if account is None or (before := _grant(account)) != seen:
            raise ChangedMeanwhile
        if before == wanted:
            return
        # A newer version of the portal may have given a role that this one does not know.
        unknown = set(account.staff_roles).difference(STAFF_ROLES)
        account.staff_roles = in_order(wanted.roles | unknown)
        account.schedules_for = sorted(wanted.departments)
        if ends := before.minus(wanted) != NOTHING:
            account.end_sessions()
        add_audit_entry(
            session,
            "account.roles",
            f"account:{account_id}",
            by=by,
            before=_audit_facts(session, before),
            after=_audit_facts(session, wanted),
            reason=why,
        )
    if ends:
        visitors.forget_everywhere(account_id)
    else:
        visitors.forget(account_id)


class LastAdminError(Exception):
    """No other account is an admin."""


def end_admin(account_id: int, *, by: int | None, why: str) -> None:
    """End the role admin of an account, and all its sessions. Raise LastAdminError."""
    with transaction() as session:
        locked = select(Account).where(Account.is_admin, *PERSON).order_by(Account.id)
        admins = {each.id: each for each in session.scalars(locked.with_for_update())}
        if account_id not in admins:
            return
        if all(each.deactivated_at for each in admins.values() if each.id != account_id):
            raise LastAdminError
        account = admins[account_id]
        account.is_admin = False
        account.end_sessions()
        facts = {"before": {"admin": True}, "after": {"admin": False}}
        subject = f"account:{account_id}"
        add_audit_entry(session, "account.change", subject, by=by, reason=why, **facts)
    visitors.forget_everywhere(account_id)


def _find(which: ColumnElement[bool]) -> list[StaffMember]:
    query = select(Account).where(which, *PERSON).order_by(Account.name, Account.username)
    with transaction() as session:
        return [
            StaffMember(each.id, each.username, each.name, each.is_admin, _grant(each))
            for each in session.scalars(query)
        ]


def _grant(account: Account) -> Grant:
    """Return what the account has, without roles that this version does not know."""
    known = frozenset(account.staff_roles).intersection(STAFF_ROLES)
    return Grant(known, frozenset(account.schedules_for))


def _audit_facts(session: Session, grant: Grant) -> dict[str, list[str]]:
    departments = department_codes(session, grant.departments)
    return {"roles": in_order(grant.roles), "departments": departments}
