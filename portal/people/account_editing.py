"""Accounts of people without a student record: created and edited by admins."""

from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from portal.catalog.record_details import RecordChange, RecordDetails, Taken, text
from portal.core.db import ChangedMeanwhile
from portal.core.i18n import _l
from portal.people import signals
from portal.people.accounts import lock_accounts, username_taken
from portal.people.models import PERSON, Account, Student
from portal.people.roles import OWN, ROLES, rights_of
from portal.people.visitors import Visitor


@dataclass(frozen=True, kw_only=True)
class AccountDetails(RecordDetails):
    """The fields of an account that an admin may set."""

    name: str = text(_l("Name"), 160)
    email: str = text(_l("Email"), 254)


def details(account: Account) -> AccountDetails:
    return AccountDetails(name=account.name, email=account.email)


def address_taken(session: Session, address: str, other_than: int = 0) -> bool:
    """Return whether another account of a person has the email address."""
    same = func.lower(Account.email) == func.lower(address), Account.id != other_than
    return session.scalar(select(Account.id).where(*same, *PERSON).limit(1)) is not None


def may_change_email(account: Account, by: Visitor) -> bool:
    """Return whether an admin may change the address to which a link for a password goes.

    Those of admins, and of people who decide applications, never change on pages: one person could
    decide twice. Nor do those of staff with rights that `by` lacks.
    """
    if any(each.decides_for_id and each.deleted_at is None for each in account.instructors):
        return False
    held = {*account.staff_roles, *(["scheduler"] if account.schedules_for else [])}
    if account.is_admin or not held <= ROLES.keys():  # a newer version may know more roles
        return False
    return rights_of(frozenset(held)) - OWN <= rights_of(by.roles)


def create(
    session: Session, username: str, change: RecordChange[AccountDetails]
) -> tuple[Account, bool]:
    """Store a new account without password or roles; return it, and whether it is new.

    The same form sent twice creates it once. Raise Taken.
    """
    lock_accounts(session)
    if same := _created_before(session, username, change):
        return same, False
    wanted = change.wanted
    if username_taken(session, username) or address_taken(session, wanted.email):
        raise Taken
    account = Account(username=username, name=wanted.name, email=wanted.email)
    session.add(account)
    try:
        session.flush()
    except IntegrityError as error:  # a student or an import took it
        raise Taken from error
    change.note(session, "account.make", f"account:{account.id}", username=username)
    return account, True


def edit(
    session: Session, account_id: int, change: RecordChange[AccountDetails], by: Visitor
) -> None:
    """Give the account another name or address; do nothing if that is done already.

    Raise Taken, and ChangedMeanwhile if the details are no longer those seen, if the account has
    become a student's, or if its address may not change.
    """
    lock_accounts(session)
    query = select(Account).where(Account.id == account_id, *PERSON).with_for_update()
    account = session.scalar(query)
    if account is None or student_of(account):
        raise ChangedMeanwhile
    before, wanted = details(account), change.wanted
    if not change.differs(before):
        return
    if before.email != wanted.email:
        if logs_in_with_address(account) or not may_change_email(account, by):
            raise ChangedMeanwhile
        if address_taken(session, wanted.email, account_id):
            raise Taken
        signals.email_changed.send(session, account_id, before.email)
    account.name, account.email = wanted.name, wanted.email
    change.note(session, "account.edit", f"account:{account_id}", before)


def logs_in_with_address(account: Account) -> bool:
    """Return whether the person signed up with the address, so that it must stay."""
    return account.username == account.email


def student_of(account: Account) -> Student | None:
    """Return the student whose record has the account's name and address; None if there is none."""
    student = account.student
    return student if student and student.deleted_at is None else None


def _created_before(
    session: Session, username: str, change: RecordChange[AccountDetails]
) -> Account | None:
    """Return the account if the admin has created it by the same form."""
    made = change.made_before("account.make", func.concat("account:", Account.id))
    account = session.scalar(select(Account).where(Account.username == username, made, *PERSON))
    return account if account and details(account) == change.wanted else None
