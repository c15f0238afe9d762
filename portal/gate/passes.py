"""Passes: signed leave to claim seats in one window, checked without asking anyone."""

import hashlib
import hmac
from dataclasses import astuple, dataclass
from functools import cache
from secrets import compare_digest

from flask import current_app
from itsdangerous import BadData, URLSafeSerializer

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
    return str(_signer(current_app.secret_key).dumps(astuple(given)))


def read(text: str) -> Pass | None:
    """The pass in a text of ours; None for any other text."""
    try:
        return Pass(*_signer(current_app.secret_key).loads(text))
    except (BadData, TypeError):
        return None


def ticket(given: Pass, section: int) -> str:
    """What the form for one section carries, so that nobody claims without having asked for it."""
    named = f"{given.account}.{given.window}.{section}".encode()
    return hmac.new(_key(current_app.secret_key), named, hashlib.sha256).hexdigest()[:32]


def fits(text: str, given: Pass, section: int) -> bool:
    """Whether it is the ticket for that section."""
    return compare_digest(text.encode(), ticket(given, section).encode())


@cache
def _signer(secret: str) -> URLSafeSerializer:
    return URLSafeSerializer(secret, salt=SALT, signer_kwargs={"digest_method": hashlib.sha256})


@cache
def _key(secret: str) -> bytes:
    return hashlib.sha256(f"ticket {secret}".encode()).digest()
