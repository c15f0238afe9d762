"""What a message is signed with: what a secret is made of is kept, the secret itself nowhere."""

import hashlib
import hmac
from base64 import b64encode
from secrets import token_hex

from portal.backend import backend

BEGINNING = "whsec_"


def seed() -> str:
    """What a new secret is made of."""
    return token_hex(16)


def secret(seed: str) -> str:
    """The secret that follows from a seed, for whoever knows ours; as receivers write it."""
    return BEGINNING + b64encode(_key(seed, backend().settings.secret_key)).decode()


def signature(seed: str, message_id: str, at: int, body: bytes) -> str:
    """The signatures of a message sent at `at` (s), as Standard Webhooks has them: one per key."""
    signed = f"{message_id}.{at}.".encode() + body
    keys = [_key(seed, each) for each in reversed(backend().settings.signing_keys)]
    codes = [b64encode(hmac.digest(key, signed, hashlib.sha256)).decode() for key in keys]
    return " ".join(f"v1,{code}" for code in codes)


def _key(seed: str, secret_key: str) -> bytes:
    ours = f"webhook {secret_key}".encode()
    return hmac.digest(ours, seed.encode(), hashlib.sha256)
