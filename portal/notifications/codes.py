"""Mails with one-time codes, sent at once."""

from portal.core.db import transaction
from portal.notifications import outbox
from portal.people.models import Account
from portal.protection import captcha_codes
from portal.recorder.wake import wake

NO_TERM = 0  # the worker is called for the mails alone


def post(account: int) -> str:
    """Mail a new code to the account; return its address, or "" where it has none."""
    seed = captcha_codes.create_seed(account)
    with transaction() as session:
        address = session.get_one(Account, account).email
        if address:
            outbox.put(session, outbox.CODE, account, {"seed": seed}, captcha_codes.MINUTES)
    if address:
        wake(NO_TERM, ["notify"])
    return address
