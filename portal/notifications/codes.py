"""One-time codes by mail: what a code is made of is kept, the code itself nowhere."""

import hashlib
import hmac

from portal.backend import backend
from portal.core.db import transaction
from portal.notifications import outbox
from portal.people.models import Account
from portal.recorder.wake import wake

DIGITS = 8
MINUTES = 10
NO_TERM = 0  # the worker is called for the mails alone


def code(account: int, seed: str) -> str:
    """The digits that follow from a seed, for whoever knows our secret."""
    return _code(account, seed, backend().settings.secret_key)


def fits(typed: str, account: int, seed: str) -> bool:
    """Return whether the digits are those of the seed, by any of our keys."""
    codes = [_code(account, seed, key) for key in backend().settings.signing_keys]
    return any(hmac.compare_digest(typed.encode(), each.encode()) for each in codes)


def _code(account: int, seed: str, secret_key: str) -> str:
    key = f"one-time code {secret_key}".encode()
    found = hmac.new(key, f"{account}.{seed}".encode(), hashlib.sha256).digest()
    return f"{int.from_bytes(found) % 10**DIGITS:0{DIGITS}}"


def post(account: int, seed: str) -> str:
    """Have the code of a seed sent at once; gives the address, "" where the account has none."""
    with transaction() as session:
        address = session.get_one(Account, account).email
        if address:
            mail = {"seed": seed}
            outbox.put(session, outbox.CODE, account, mail, MINUTES)
    if address:
        wake(NO_TERM, ["notify"])
    return address
