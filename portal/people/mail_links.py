"""Signed links in mail: to sign up with an address, or to choose another password."""

from typing import Any

from itsdangerous import BadSignature, URLSafeTimedSerializer
from sqlalchemy import select

from portal.backend import backend
from portal.core.db import transaction
from portal.people.models import ACTIVE, Account

MINUTES = 60
SIGN_UP, RECOVERY = "sign-up", "recovery"


class InvalidLink(ValueError):
    """The link is not ours, is too old, or was used already."""


def sign_up_token(address: str) -> str:
    """Return what proves that its bearer reads the mail of an address."""
    return str(_signer(SIGN_UP).dumps(address))


def address_of(token: str) -> str:
    """Return the address of a token to sign up; raise InvalidLink."""
    return str(_read(SIGN_UP, token))


def recovery_token(account: Account) -> str:
    """Return what lets its bearer choose another password, once."""
    return str(_signer(RECOVERY).dumps([account.id, account.session_epoch, account.email]))


def account_of(token: str) -> Account:
    """Return the account of a token for another password; raise InvalidLink.

    A changed password raises the account's epoch, so the link then counts as used. A link to an
    earlier address of the account doesn't count.
    """
    number, epoch, email = _read(RECOVERY, token)
    with transaction() as session:
        mine = Account.id == number, Account.session_epoch == epoch, Account.email == email, ACTIVE
        account = session.scalar(select(Account).where(*mine))
    if account is None:
        raise InvalidLink
    return account


def _read(purpose: str, token: str) -> Any:
    try:
        return _signer(purpose).loads(token, max_age=MINUTES * 60)
    except BadSignature as error:
        raise InvalidLink from error


def _signer(purpose: str) -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(backend().settings.signing_keys, salt=f"fairseat {purpose}")
