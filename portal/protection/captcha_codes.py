"""One-time codes by mail, in place of a proof of work in browsers without scripts.

Redis keeps the seed of a code, never the code itself.
"""

import hashlib
import hmac
import re
from secrets import token_hex

from portal.backend import backend
from portal.ledger.function_library import translate_errors
from portal.protection import evidence
from portal.protection.captcha_puzzle import NotProven

DIGITS = 8
MINUTES = 10
TRIES = 5


def create_seed(account: int) -> str:
    """Return the seed of a new code for the account; earlier codes count no longer."""
    seed = token_hex(16)
    with translate_errors(), backend().redis.pipeline() as pipe:
        pipe.set(_key(account), seed, ex=MINUTES * 60)
        pipe.delete(_tries(account))
        pipe.execute()
    return seed


def code(account: int, seed: str) -> str:
    """Return the digits that follow from a seed and our secret key."""
    return _code(account, seed, backend().settings.secret_key)


def check(account: int, typed: str) -> None:
    """Accept the code that the account was sent; raises NotProven, or LedgerUnavailable."""
    with translate_errors(), backend().redis.pipeline() as pipe:
        pipe.get(_key(account))
        pipe.incr(_tries(account))
        pipe.expire(_tries(account), MINUTES * 60)
        seed, tries, _ = pipe.execute()
    if seed is None or tries > TRIES:
        raise NotProven("no_code")
    if not matches(re.sub(r"[\s-]", "", typed), account, seed.decode()):
        raise NotProven("wrong_code")
    with translate_errors():
        first = backend().redis.delete(_key(account))
    if not first:  # it was typed twice at the same time
        raise NotProven("no_code")
    evidence.record_proof(account, "code")


def matches(digits: str, account: int, seed: str) -> bool:
    """Return whether the digits are those of the seed, by any of our keys."""
    codes = [_code(account, seed, key) for key in backend().settings.signing_keys]
    return any(hmac.compare_digest(digits.encode(), each.encode()) for each in codes)


def _code(account: int, seed: str, secret_key: str) -> str:
    key = f"one-time code {secret_key}".encode()
    found = hmac.new(key, f"{account}.{seed}".encode(), hashlib.sha256).digest()
    return f"{int.from_bytes(found) % 10**DIGITS:0{DIGITS}}"


def _key(account: int) -> str:
    return f"captcha:{{code:{account}}}"


def _tries(account: int) -> str:
    return f"{_key(account)}:tries"
