"""The puzzle: ALTCHA's proof of work, made and checked within a millisecond, asking nobody.

A browser tries number after number until one has the key whose beginning the puzzle tells. A try is
some rounds of PBKDF2, which browsers do as fast as programs do.
"""

import hashlib
import hmac
import json
from functools import cache
from secrets import choice
from time import time

from altcha import (
    Challenge,
    ChallengeParameters,
    Payload,
    VerifySolutionResult,
    create_challenge,
    verify_solution,
)

from portal.backend import backend
from portal.protection.captcha.refusals import NotProven

ALGORITHM = "PBKDF2/SHA-256"
ROUNDS = 1000  # hashes of one try, which is what making a challenge costs us
LASTS = 20 * 60  # seconds
LONGEST = 8192  # characters of a payload


def make(account: int, cost: int) -> Challenge:
    """A puzzle for an account, of at most `cost` hashes and at least half as many."""
    tries = max(1, cost // ROUNDS)
    return create_challenge(
        ALGORITHM,
        ROUNDS,
        counter=choice(range(tries // 2, tries)),
        expires_at=ends(),
        data={"account": account},
        hmac_secret=_key("challenge", backend().settings.secret_key),
        hmac_key_secret=_key("solution", backend().settings.secret_key),
    )


def sign(parameters: ChallengeParameters) -> Challenge:
    """A puzzle with a signature of ours, as ALTCHA makes one."""
    told = json.dumps(parameters.to_dict(), sort_keys=True, separators=(",", ":"))
    key = _key("challenge", backend().settings.secret_key)
    return Challenge(parameters, hmac.new(key, told.encode(), hashlib.sha256).hexdigest())


def read(payload: str, account: int) -> Payload:
    """A puzzle that was given out to the account, solved; raises NotProven."""
    try:
        solved = Payload.from_base64(payload[:LONGEST])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise NotProven("bad") from error
    answers = [_verified(solved, key) for key in backend().settings.signing_keys]
    found = next((each for each in answers if each.verified), answers[-1])
    if found.expired:
        raise NotProven("expired")
    if not found.verified:
        raise NotProven("bad")
    if told(solved)["account"] != account:
        raise NotProven("another")
    return solved


def _verified(solved: Payload, key: str) -> VerifySolutionResult:
    challenge, solution = _key("challenge", key), _key("solution", key)
    return verify_solution(solved, challenge, hmac_key_secret=solution)


def told(solved: Payload) -> dict[str, object]:
    """What we wrote into a puzzle when we gave it out."""
    return dict(solved.challenge.parameters.data or {"account": 0})


def ends() -> int:
    """Until when (seconds of the epoch) a puzzle that is given out now can be handed in."""
    return int(time()) + LASTS


@cache
def _key(purpose: str, secret: str) -> bytes:
    return hashlib.sha256(f"captcha {purpose} {secret}".encode()).digest()
