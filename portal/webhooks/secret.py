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
    return BEGINNING + b64encode(_key(seed)).decode()


def signature(seed: str, message_id: str, at: int, body: bytes) -> str:
    """The signature of a message sent at `at` (s), as Standard Webhooks has it."""
    signed = f"{message_id}.{at}.".encode() + body
    return f"v1,{b64encode(hmac.digest(_key(seed), signed, hashlib.sha256)).decode()}"


def _key(seed: str) -> bytes:
    ours = f"webhook {backend().settings.secret_key}".encode()
    return hmac.digest(ours, seed.encode(), hashlib.sha256)
