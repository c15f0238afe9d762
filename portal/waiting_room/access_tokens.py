"""Access tokens: signed leave to register in one window, checked without a lookup."""

import hashlib
from dataclasses import astuple, dataclass

from itsdangerous import BadData, URLSafeSerializer

from portal.backend import backend

LIFETIME = 5 * 60 * 1000  # ms, from when it is issued or renewed
SALT = "pass"


@dataclass(frozen=True)
class AccessToken:
    """A permit for an account to register in a window of a term, until a moment (ms)."""

    account: int
    term: int
    window: int
    ends: int


def encode(token: AccessToken) -> str:
    """Return the token as a browser or a client carries it."""
    return str(_signer().dumps(astuple(token)))


def decode(text: str) -> AccessToken | None:
    """Return the token in an encoded text; None if the text is not one."""
    try:
        return AccessToken(*_signer().loads(text))
    except (BadData, TypeError):
        return None


def _signer() -> URLSafeSerializer:
    keys = backend().settings.signing_keys
    return URLSafeSerializer(keys, salt=SALT, signer_kwargs={"digest_method": hashlib.sha256})
