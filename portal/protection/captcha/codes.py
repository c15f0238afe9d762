"""One-time codes by mail: how browsers without scripts show that no robot sits there."""

import re
from secrets import token_hex

from portal.backend import backend
from portal.ledger.function_library import translate_errors
from portal.notifications import codes
from portal.protection import evidence
from portal.protection.captcha.refusals import NotProven

LASTS = codes.MINUTES * 60  # seconds
TRIES = 5


def send(account: int) -> str:
    """Send the account another code, which alone counts from now on; gives the address, or ""."""
    seed = token_hex(16)
    with translate_errors(), backend().redis.pipeline() as pipe:
        pipe.set(_key(account), seed, ex=LASTS)
        pipe.delete(_tries(account))
        pipe.execute()
    return codes.post(account, seed)


def enter(account: int, typed: str) -> None:
    """Take the code that the account was sent; raises NotProven, or LedgerUnavailable."""
    with translate_errors(), backend().redis.pipeline() as pipe:
        pipe.get(_key(account))
        pipe.incr(_tries(account))
        pipe.expire(_tries(account), LASTS)
        seed, tries, _ = pipe.execute()
    if seed is None or tries > TRIES:
        raise NotProven("no_code")
    digits = re.sub(r"[\s-]", "", typed)
    if not codes.fits(digits, account, seed.decode()):
        raise NotProven("wrong_code")
    with translate_errors():
        first = backend().redis.delete(_key(account))
    if not first:  # it was typed twice at the same time
        raise NotProven("no_code")
    evidence.record_proof(account, "code")


def _key(account: int) -> str:
    return f"captcha:{{code:{account}}}"


def _tries(account: int) -> str:
    return f"{_key(account)}:tries"
