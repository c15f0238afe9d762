"""ALTCHA's proof of work: a challenge is made and checked within a millisecond, without storage.

A browser tries number after number until one has the key whose beginning the puzzle names. A try
is some rounds of PBKDF2, which browsers compute as fast as programs do.
"""

import hashlib
import hmac
import json
from functools import cache
from secrets import choice
from time import time
from typing import Literal

from altcha import (
    Challenge,
    ChallengeParameters,
    Payload,
    VerifySolutionResult,
    create_challenge,
    verify_solution,
)

from portal.backend import backend
from portal.core.i18n import _l

ALGORITHM = "PBKDF2/SHA-256"
ROUNDS = 1000  # hashes of one try, which is what making a challenge costs us
LASTS = 20 * 60  # seconds
LONGEST = 8192  # characters of a payload

Refusal = Literal["bad", "expired", "replayed", "another", "wrong_code", "no_code"]
REFUSALS = {
    "bad": _l("The check failed. Start it again."),
    "expired": _l("This check has expired. Start it again."),
    "replayed": _l("This check was already used. Start a new one."),
    "another": _l("This check belongs to another account. Start it again."),
    "wrong_code": _l("Wrong code. Check it and try again."),
    "no_code": _l(
        "Your code no longer works. A code lasts ten minutes, for five tries. Request a new one."
    ),
}


class NotProven(Exception):
    """A proof of work or a code that does not count."""

    def __init__(self, reason: Refusal) -> None:
        super().__init__(reason)
        self.reason = reason

    @property
    def text(self) -> str:
        """Why, and what to do, in the reader's language."""
        return str(REFUSALS[self.reason])


def make(account: int, cost: int) -> Challenge:
    """Return a puzzle for an account, of at most `cost` hashes and at least half as many."""
    tries = max(1, cost // ROUNDS)
    return create_challenge(
        ALGORITHM,
        ROUNDS,
        counter=choice(range(tries // 2, tries)),
        expires_at=expiry(),
        data={"account": account},
        hmac_secret=_key("challenge", backend().settings.secret_key),
        hmac_key_secret=_key("solution", backend().settings.secret_key),
    )


def sign(parameters: ChallengeParameters) -> Challenge:
    """Return a puzzle with our signature, as ALTCHA computes it."""
    text = json.dumps(parameters.to_dict(), sort_keys=True, separators=(",", ":"))
    key = _key("challenge", backend().settings.secret_key)
    return Challenge(parameters, hmac.new(key, text.encode(), hashlib.sha256).hexdigest())


def read(payload: str, account: int) -> Payload:
    """Return the solution of a puzzle that the account was given; raises NotProven."""
    try:
        solved = Payload.from_base64(payload[:LONGEST])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotProven("bad") from error
    results = [_verify(solved, key) for key in backend().settings.signing_keys]
    result = next((each for each in results if each.verified), results[-1])
    if result.expired:
        raise NotProven("expired")
    if not result.verified:
        raise NotProven("bad")
    if data_of(solved)["account"] != account:
        raise NotProven("another")
    return solved


def data_of(solved: Payload) -> dict[str, object]:
    """Return what we wrote into a puzzle when we made it."""
    return dict(solved.challenge.parameters.data or {"account": 0})


def expiry() -> int:
    """Return when a puzzle that is made now expires, in seconds of the epoch."""
    return int(time()) + LASTS


def _verify(solved: Payload, key: str) -> VerifySolutionResult:
    challenge, solution = _key("challenge", key), _key("solution", key)
    return verify_solution(solved, challenge, hmac_key_secret=solution)


@cache
def _key(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"captcha {purpose} {secret}".encode()).digest()
