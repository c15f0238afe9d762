"""Accounts: created at the command line, found, deactivated; passwords and sessions of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time

from sqlalchemy import ColumnElement, func, or_, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session, selectinload

from portal.backend import backend
from portal.catalog.models import Department, Instructor
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.errors import CommandError
from portal.people import passwords, tokens, visitors
from portal.people.mail_links import InvalidLink
from portal.people.models import ACTIVE, PERSON, Account
from portal.people.roles import in_order
from portal.people.signals import email_changed, password_changed
from portal.people.staff import department_codes

LONGEST_ADDRESS = 254  # characters of an email address
MAX_LENGTHS = {"username": 64, "name": 160, "password": 1024}  # as the login form reads them
MAX_OF_ADDRESS = 5  # accounts that share a mail address, and get links
PAGE_SIZE, MAX_WORDS = 50, 6
MAX_ENDED_SESSIONS = 200  # remembered of an account; one more ends all its sessions


class AccountRefusedError(CommandError):
    """The account can't be created or changed; the message says why and what would help."""


@dataclass(frozen=True)
class NewAccount:
    """An account to create; an existing one gets the address and the roles alone."""

    username: str
    name: str = ""
    email: str = ""  # blank = as it is
    password: str = ""
    admin: bool = False
    roles: tuple[str, ...] = ()  # of portal.people.roles.STAFF_ROLES
    schedules: tuple[str, ...] = ()  # codes of departments
    teaches: str = ""  # the exact name of an instructor without an account
    department: str = ""  # its code, where several instructors have that name


def ensure_account(wanted: NewAccount) -> bool:
    """Return whether the account was created; an existing one gets what it lacks.

    Raises AccountRefusedError.
    """
    with transaction() as session:
        lock_accounts(session)
        account = session.scalar(select(Account).where(Account.username == wanted.username))
        before = _audit_facts(session, account) if account else None
        if account is None:
            account = _new_account(session, wanted)
            session.add(account)
        else:
            _check_existing(account, wanted)
        if wanted.teaches:
            account.instructors.append(_instructor(session, wanted.teaches, wanted.department))
        account.is_admin = bool(account.is_admin) or wanted.admin
        account.staff_roles = in_order({*(account.staff_roles or ()), *wanted.roles})
        scheduled = _departments(session, wanted.schedules)
        account.schedules_for = sorted({*(account.schedules_for or ()), *scheduled})
        _set_address(session, account, wanted.email)
        session.flush()
        add_audit_entry(
            session,
            "account.change" if before else "account.make",
            f"account:{account.id}",
            before=before,
            after=_audit_facts(session, account),
            reason="command line",
        )
    return before is None


def sign_up(address: str, name: str, password: str) -> int:
    """Return the id of a new account for someone who reads the mail of an address.

    The address is its user name. Raises AccountRefusedError if there is such an account.
    """
    hashed = passwords.hash_password(password)
    fields = {"username": address, "email": address, "name": name, "password_hash": hashed}
    with transaction() as session:
        lock_accounts(session)
        made = insert(Account).values(fields).on_conflict_do_nothing().returning(Account.id)
        account = None if username_taken(session, address) else session.scalar(made)
        if account is None:
            raise AccountRefusedError(f"The account {address!r} already exists.")
        after = {"username": address, "name": name}
        subject = f"account:{account}"
        add_audit_entry(session, "account.sign_up", subject, by=account, after=after)
    return account


def of_address(session: Session, address: str) -> Account | None:
    """Return the account that signed up with a mail address."""
    mine = [func.lower(each) == address.lower() for each in (Account.username, Account.email)]
    kept = Account.deleted_at.is_(None), Account.password_hash != ""
    return session.scalar(select(Account).where(*mine, *kept).limit(1))


def recoverable(session: Session, address: str) -> Sequence[Account]:
    """Return the accounts that get a link for a new password at a mail address.

    With single sign-on beside passwords, those without a password here log in there.
    """
    mine = func.lower(Account.email) == address.lower(), ACTIVE, Account.is_service.is_(False)
    found = select(Account).where(*mine).order_by(Account.id).limit(MAX_OF_ADDRESS)
    if backend().settings.oidc:
        found = found.where(Account.password_hash != "")
    return session.scalars(found).all()


def has_username(username: str) -> bool:
    """Return whether an account, even a deleted one, has exactly this username."""
    with transaction() as session:
        return session.scalar(select(Account.id).where(Account.username == username)) is not None


def lock_accounts(session: Session) -> None:
    """Let one change at a time check that usernames and addresses are free."""
    session.execute(select(func.pg_advisory_xact_lock(func.hashtext("accounts"))))


def username_taken(session: Session, username: str) -> bool:
    """Return whether an account, even a deleted one, has the username in upper or lower case."""
    same = func.lower(Account.username) == func.lower(username)
    return session.scalar(select(Account.id).where(same).limit(1)) is not None


def is_password(account_id: int, password: str) -> bool:
    with transaction() as session:
        hashed = session.scalar(select(Account.password_hash).where(Account.id == account_id))
    return passwords.verify(hashed or "", password)


def change_password(account_id: int, password: str) -> None:
    """Set another password, and end every session of the account."""
    _end_all(account_id, "password.change", password_hash=passwords.hash_password(password))


def recover(account_id: int, epoch: int, password: str) -> None:
    """Set the password that somebody with a link has chosen, and end every session.

    Raise InvalidLink if the link, which is for an epoch of the account, has been used meanwhile.
    """
    hashed = passwords.hash_password(password)
    usable = Account.session_epoch == epoch, ACTIVE
    if not _end_all(account_id, "password.recover", *usable, password_hash=hashed):
        raise InvalidLink


def find(account_id: int) -> Account | None:
    """Return the account of a person, active or not."""
    with transaction() as session:
        found = select(Account).where(Account.id == account_id, *PERSON)
        return session.scalar(
            found.options(selectinload(Account.student), selectinload(Account.instructors))
        )


def search(session: Session, text: str, page: int) -> tuple[list[Account], bool]:
    """Return a page of the accounts of people that match every word, and whether more follow."""
    found = select(Account).where(*PERSON, *map(_matches, text.split()[:MAX_WORDS]))
    found = found.order_by(Account.name, Account.username)
    rows = list(session.scalars(found.offset((page - 1) * PAGE_SIZE).limit(PAGE_SIZE + 1)))
    return rows[:PAGE_SIZE], len(rows) > PAGE_SIZE


def set_active(account_id: int, by: int, reason: str, *, active: bool) -> None:
    """Let people log in to the account again, or end its sessions and tokens and refuse logins.

    Do nothing if that is done. Raise AccountRefusedError for an admin's account.
    """
    with transaction() as session:
        account = session.get_one(Account, account_id, with_for_update=True)
        if active == (account.deactivated_at is None):
            return
        if not active and (account.is_admin or account.is_service or account_id == by):
            raise AccountRefusedError(account.username)
        account.deactivated_at = None if active else datetime.now(UTC)
        account.end_sessions()
        if not active:
            tokens.end_all(session, account_id, by=by, reason=reason)
        add_audit_entry(
            session,
            "account.activate" if active else "account.deactivate",
            f"account:{account_id}",
            by=by,
            before={"active": not active},
            after={"active": active},
            reason=reason,
        )
    visitors.forget_everywhere(account_id)


def _matches(word: str) -> ColumnElement[bool]:
    columns = (Account.name, Account.username, Account.email)
    return or_(*(column.icontains(word, autoescape=True) for column in columns))


def end_sessions(account_id: int) -> None:
    """End every session of the account; its API tokens stay valid."""
    _end_all(account_id, "sessions.end")


def end_session(account_id: int, name: str, until: float) -> None:
    """End one session of the account before its expiry at `until`."""
    with transaction() as session:
        account = session.get_one(Account, account_id, with_for_update=True)
        ended = {key: at for key, at in account.ended_sessions.items() if at > time()}
        if len(ended) >= MAX_ENDED_SESSIONS:
            account.end_sessions()
        else:
            account.ended_sessions = {**ended, name: until}
    visitors.forget_everywhere(account_id)


def _end_all(account_id: int, action: str, *conditions: ColumnElement[bool], **values: str) -> bool:
    """End every session of the account, if it meets the conditions; return whether it does."""
    ended = {"session_epoch": Account.session_epoch + 1, "ended_sessions": {}}
    changed = update(Account).where(Account.id == account_id, *conditions)
    with transaction() as session:
        if session.scalar(changed.values(ended | values).returning(Account.id)) is None:
            return False
        add_audit_entry(session, action, f"account:{account_id}", by=account_id)
        if values:
            password_changed.send(session, account_id)
    visitors.forget_everywhere(account_id)
    return True


def _new_account(session: Session, wanted: NewAccount) -> Account:
    if not wanted.name.strip():
        raise AccountRefusedError(
            f"The account {wanted.username!r} does not exist. A new account needs --name."
        )
    for field, longest in MAX_LENGTHS.items():
        given = getattr(wanted, field)
        if len(given) > longest or not given.isprintable() or given.strip() != given:
            raise AccountRefusedError(
                f"A {field} has {longest} printable characters at most, no space at its ends."
            )
    if not wanted.username:
        raise AccountRefusedError("An account needs a username.")
    if username_taken(session, wanted.username):
        raise AccountRefusedError(
            f"The username {wanted.username!r} is taken, apart from upper and lower case."
            " Choose another one."
        )
    if len(wanted.password) < passwords.SHORTEST:
        raise AccountRefusedError(f"A password must have at least {passwords.SHORTEST} characters.")
    hashed = passwords.hash_password(wanted.password)
    return Account(username=wanted.username, name=wanted.name, password_hash=hashed)


def _check_existing(account: Account, wanted: NewAccount) -> None:
    if account.deleted_at:
        raise AccountRefusedError(
            f"The account {account.username!r} is deleted. Choose another username."
        )
    if wanted.email and account.username == account.email:
        raise AccountRefusedError(
            f"{account.username!r} logs in with its address, which must stay."
        )
    gains = wanted.admin or wanted.roles or wanted.schedules or wanted.teaches or wanted.email
    if not gains:
        raise AccountRefusedError(
            f"The account {account.username!r} already exists."
            " Give it a role with --admin, --role, --schedules or --teaches, or an address with"
            " --email."
        )


def _set_address(session: Session, account: Account, address: str) -> None:
    """Set the address if one is given, and warn the one before."""
    before = account.email
    if address and address != before:
        account.email = address
        if before:
            email_changed.send(session, account.id, before)


def _departments(session: Session, codes: tuple[str, ...]) -> list[int]:
    """Return the departments with these codes; raises AccountRefusedError."""
    known = select(Department).where(Department.code.in_(codes), Department.deleted_at.is_(None))
    found = {each.code: each.id for each in session.scalars(known)}
    if missing := [code for code in codes if code not in found]:
        raise AccountRefusedError(f"There is no department {', '.join(missing)}.")
    return list(found.values())


def _instructor(session: Session, name: str, department: str) -> Instructor:
    """Return the one instructor of that name without an account; raises AccountRefusedError."""
    query = (
        select(Instructor, Department.code)
        .outerjoin(Department, Department.id == Instructor.department_id)
        .where(Instructor.name == name, Instructor.deleted_at.is_(None))
        .where(Instructor.account_id.is_(None))
        .order_by(Department.code)
        .with_for_update(of=Instructor)
    )
    found = [(instructor, code or "none") for instructor, code in session.execute(query)]
    fitting = [each for each, code in found if code == department or not department]
    if len(fitting) > 1:
        codes = ", ".join(code for _, code in found)
        raise AccountRefusedError(
            f"Several instructors are named {name!r}. Choose a department: {codes}."
        )
    if not fitting:
        where = f" in the department {department!r}" if department else ""
        raise AccountRefusedError(f"No instructor without an account is named {name!r}{where}.")
    return fitting[0]


def _audit_facts(session: Session, account: Account) -> dict[str, object]:
    return {
        "username": account.username,
        "name": account.name,
        "email": account.email,
        "admin": account.is_admin,
        "roles": account.staff_roles,
        "departments": department_codes(session, account.schedules_for),
        "instructors": [instructor.id for instructor in account.instructors],
    }


def actor_name(actor: str) -> str:
    """Return the actor of an event, by name if it is an account."""
    kind, _colon, number = actor.partition(":")
    if kind != "account" or not number.isdecimal():
        return actor
    with transaction() as session:
        name = session.scalar(select(Account.name).where(Account.id == int(number)))
    return name or actor
