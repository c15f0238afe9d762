"""Passes: signed leave to claim seats in one window, checked without asking anyone."""

import hashlib
import hmac
from dataclasses import astuple, dataclass
from functools import cache
from secrets import compare_digest

from itsdangerous import BadData, URLSafeSerializer

from portal.backend import backend

STAY = 5 * 60 * 1000  # ms that a pass is good for, from when it is given or renewed
SALT = "pass"


@dataclass(frozen=True)
class Pass:
    """Leave for an account to claim in a window of a term, until a moment (ms)."""

    account: int
    term: int
    window: int
    ends: int


def write(given: Pass) -> str:
    """The pass as a browser or a client carries it."""
    return str(_signer(*backend().settings.signing_keys).dumps(astuple(given)))


def read(text: str) -> Pass | None:
    """The pass in a text of ours; None for any other text."""
    try:
        return Pass(*_signer(*backend().settings.signing_keys).loads(text))
    except (BadData, TypeError):
        return None


def ticket(given: Pass, section: int) -> str:
    """What the form for one section carries, so that nobody claims without having asked for it."""
    return _ticket(backend().settings.secret_key, given, section)


def fits(text: str, given: Pass, section: int) -> bool:
    """Whether it is the ticket for that section."""
    keys = backend().settings.signing_keys
    return any(compare_digest(text.encode(), _ticket(key, given, section).encode()) for key in keys)


def _ticket(key: str, given: Pass, section: int) -> str:
    named = f"{given.account}.{given.window}.{section}".encode()
    return hmac.new(_key(key), named, hashlib.sha256).hexdigest()[:32]


@cache
def _signer(*keys: str) -> URLSafeSerializer:
    return URLSafeSerializer(keys, salt=SALT, signer_kwargs={"digest_method": hashlib.sha256})


@cache
def _key(secret: str) -> bytes:
    return hashlib.sha256(f"ticket {secret}".encode()).digest()
