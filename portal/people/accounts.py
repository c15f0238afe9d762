"""Accounts made by hand: for those who run the portal, and for teachers whom an import named."""

from dataclasses import dataclass
from time import time

from sqlalchemy import select, update
from sqlalchemy.orm import Session

from portal.catalog.models import Department
from portal.core.db import transaction
from portal.live.publish import sessions_ended
from portal.notifications.account_mails import alert
from portal.people import passwords, visitors
from portal.people.models import Account, AuditEntry, Instructor
from portal.people.passwords import SHORTEST, hash_password

LONGEST = {"username": 64, "name": 160, "password": 1024}  # as the login form reads them


class AccountRefusedError(ValueError):
    """The account can't be made or changed so; the message says why and what would help."""


@dataclass(frozen=True)
class NewAccount:
    """The account that is wanted; name and password count for a new one alone."""

    username: str
    name: str = ""
    password: str = ""
    admin: bool = False
    teaches: str = ""  # the exact name of a teacher without an account
    department: str = ""  # its code, where several teachers have that name


def ensure_account(wish: NewAccount) -> bool:
    """Whether the account was made; one that was there only gets the roles.

    Raises AccountRefusedError.
    """
    with transaction() as session:
        account = session.scalar(select(Account).where(Account.username == wish.username))
        before = _facts(account) if account else None
        if account is None:
            account = _new(wish.username, wish.name, wish.password)
            session.add(account)
        else:
            _check_known(account, gains=wish.admin or bool(wish.teaches))
        if wish.teaches:
            _link(session, account, wish.teaches, wish.department)
        account.is_admin = bool(account.is_admin) or wish.admin
        session.flush()
        session.add(
            AuditEntry(
                action="account.change" if before else "account.make",
                subject=f"account:{account.id}",
                before=before,
                after=_facts(account),
                reason="command line",
            )
        )
    return before is None


def username_taken(username: str) -> bool:
    """Whether the name is taken, be it by an account that was deleted."""
    with transaction() as session:
        return session.scalar(select(Account.id).where(Account.username == username)) is not None


def _new(username: str, name: str, password: str) -> Account:
    if not name.strip():
        raise AccountRefusedError(
            f"There is no account named {username!r}: a new one needs a name."
        )
    for what, given in (("username", username), ("name", name), ("password", password)):
        if len(given) > LONGEST[what] or not given.isprintable() or given.strip() != given:
            raise AccountRefusedError(
                f"A {what} has {LONGEST[what]} printable characters at most, no space at its ends."
            )
    if not username:
        raise AccountRefusedError("An account needs a username.")
    if len(password) < SHORTEST:
        raise AccountRefusedError(f"A password has {SHORTEST} characters at least.")
    return Account(username=username, name=name, password_hash=hash_password(password))


def _check_known(account: Account, *, gains: bool) -> None:
    if account.deleted_at:
        raise AccountRefusedError(
            f"The account {account.username!r} has been deleted: choose another username."
        )
    if not gains:
        raise AccountRefusedError(
            f"There is an account named {account.username!r} already: say which role it gets."
        )


def _link(session: Session, account: Account, name: str, department: str) -> None:
    found = (
        select(Instructor, Department.code)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .where(
            Instructor.name == name,
            Instructor.deleted_at.is_(None),
            Instructor.account_id.is_(None),
        )
        .order_by(Department.code)
        .with_for_update(of=Instructor)
    )
    teachers = [(teacher, code or "none") for teacher, code in session.execute(found)]
    fitting = [each for each, code in teachers if code == department or not department]
    if len(fitting) > 1:
        codes = ", ".join(code for _, code in teachers)
        raise AccountRefusedError(
            f"Several teachers are named {name!r}, in the departments {codes}: choose one of these."
        )
    if not fitting:
        where = f" in the department {department!r}" if department else ""
        raise AccountRefusedError(f"No teacher without an account is named {name!r}{where}.")
    account.teachers.append(fitting[0])


def _facts(account: Account) -> dict[str, object]:
    return {
        "username": account.username,
        "name": account.name,
        "admin": account.is_admin,
        "teachers": [teacher.id for teacher in account.teachers],
    }


# Changing a password, and ending the sessions of an account; each is kept in the audit log.

MAX_ENDED_SESSIONS = (
    200  # sessions of an account to remember as ended; with one more, all of them end
)


def is_password(account_id: int, password: str) -> bool:
    """Whether that is the account's password."""
    with transaction() as session:
        kept = session.scalar(select(Account.password_hash).where(Account.id == account_id))
    return passwords.verify(kept or "", password)


def change_password(account_id: int, password: str) -> None:
    """Keep another password, and end every session of the account."""
    _change(account_id, "password.change", password_hash=passwords.hash_password(password))


def end_sessions(account_id: int) -> None:
    """End every session of the account; its access tokens go on."""
    _change(account_id, "sessions.end")


def end_session(account_id: int, name: str, until: float) -> None:
    """End one session of the account, which would have ended by itself at `until`."""
    with transaction() as session:
        account = session.get_one(Account, account_id, with_for_update=True)
        going = {key: at for key, at in account.ended_sessions.items() if at > time()}
        if len(going) >= MAX_ENDED_SESSIONS:
            account.session_epoch, account.ended_sessions = account.session_epoch + 1, {}
        else:
            account.ended_sessions = {**going, name: until}
    visitors.forget(account_id)
    sessions_ended(account_id)


def _change(account_id: int, action: str, **values: str) -> None:
    epoch = Account.session_epoch + 1
    with transaction() as session:
        changed = update(Account).where(Account.id == account_id)
        session.execute(changed.values(session_epoch=epoch, **values))
        session.add(
            AuditEntry(
                account_id=account_id, action=action, subject=f"account:{account_id}", reason=""
            )
        )
        if values:
            alert(session, account_id, "password")
    visitors.forget(account_id)
    sessions_ended(account_id)
