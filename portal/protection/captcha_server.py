"""An ALTCHA server elsewhere that makes the puzzles and decides about their solutions.

We sign its puzzles too, each for one account, and can check them while the server is away. Browsers
talk to us only.
"""

import base64
import json
import re
from functools import cache
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from altcha import Challenge, ChallengeParameters, Payload

from portal.core.breakers import Breaker
from portal.protection import captcha_puzzle

TIMEOUT = 2.0  # seconds, to connect and to answer
ALGORITHMS = {f"{kind}SHA-{size}" for kind in ("", "PBKDF2/") for size in (256, 384, 512)}
MOST_ROUNDS = 100_000  # of a try, as we make one too
LONGEST_KEY = 64  # bytes
LONGEST = 2048  # characters
BYTES = re.compile("([0-9a-f]{2}){1,64}")


class ServerFailed(Exception):
    """The server did not answer, or its answer is of no use."""


class CaptchaServer:
    """The server with `…/challenge` and `…/verify` below an address."""

    def __init__(self, address: str) -> None:
        self.address = urlsplit(address)
        name = f"The captcha server {self.address.hostname}"
        self.breaker = Breaker(name, (ServerFailed,), "captcha")
        self._session = requests.Session()

    def challenge(self, account: int) -> Challenge:
        """Return a puzzle of the server for an account; raises ServerFailed or BreakerOpen."""
        return self.breaker.call(self._challenge, account)

    def agrees(self, solved: Payload) -> bool:
        """Return whether the server accepts the solution; raise ServerFailed or BreakerOpen."""
        return self.breaker.call(self._agrees, solved)

    def _challenge(self, account: int) -> Challenge:
        found = self._answer(self._ask("GET", "challenge"))
        try:
            return captcha_puzzle.sign(_ours(found, account))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ServerFailed("It gave out no puzzle that can be solved here") from error

    def _agrees(self, solved: Payload) -> bool:
        found = json.loads(str(captcha_puzzle.data_of(solved)["remote"]))
        theirs = {"challenge": found, "solution": solved.solution.to_dict()}
        sent = {"payload": base64.b64encode(json.dumps(theirs).encode()).decode()}
        answer = self._ask("POST", "verify", sent)
        if answer.status_code == requests.codes.bad_request:
            return False
        return self._answer(answer).get("verified") is True

    def _ask(self, method: str, what: str, sent: Any = None) -> requests.Response:
        path = f"{self.address.path.rstrip('/')}/{what}"
        url = urlunsplit(self.address._replace(path=path))
        try:
            return self._session.request(
                method, url, json=sent, timeout=TIMEOUT, allow_redirects=False
            )
        except requests.RequestException as error:
            raise ServerFailed(type(error).__name__) from error  # its text may have the key in it

    def _answer(self, response: requests.Response) -> dict[str, Any]:
        try:
            found = response.json()
        except ValueError as error:
            raise ServerFailed("It gave no JSON") from error
        if response.status_code != requests.codes.ok or not isinstance(found, dict):
            raise ServerFailed(f"It answered {response.status_code}")
        return found


@cache
def at(address: str) -> CaptchaServer:
    """Return the server at an address, one for each process."""
    return CaptchaServer(address)


def _ours(found: dict[str, Any], account: int) -> ChallengeParameters:
    """Return the work of a puzzle of the server, for one account.

    Raises KeyError, TypeError, ValueError or AttributeError if our pages can't solve it.
    """
    theirs = ChallengeParameters.from_dict(found["parameters"])
    challenge = json.dumps({part: found[part] for part in ("parameters", "signature")})
    if "codeChallenge" in found or not _solvable(theirs) or len(challenge) > LONGEST:
        raise ValueError(theirs.algorithm)
    return ChallengeParameters(
        algorithm=theirs.algorithm,
        nonce=theirs.nonce,
        salt=theirs.salt,
        cost=theirs.cost,
        key_length=theirs.key_length,
        key_prefix=theirs.key_prefix,
        expires_at=min(captcha_puzzle.expiry(), theirs.expires_at or captcha_puzzle.expiry()),
        data={"account": account, "remote": challenge},
    )


def _solvable(theirs: ChallengeParameters) -> bool:
    return (
        theirs.algorithm in ALGORITHMS
        and _number(theirs.cost, MOST_ROUNDS)
        and _number(theirs.key_length, LONGEST_KEY)
        and isinstance(theirs.key_prefix, str)
        and isinstance(theirs.expires_at, int | None)
        and all(BYTES.fullmatch(text) for text in (theirs.nonce, theirs.salt))
    )


def _number(value: object, most: int) -> bool:
    return isinstance(value, int) and 0 < value <= most
