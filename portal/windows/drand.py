"""The rounds of drand as public values: when they appear, and their randomness.

It is fetched from the HTTP API of one chain, if the portal may use it (`FAIRSEAT_DRAND`). The
signature of drand is not checked, as anyone can compare the value with its source.
"""

import json
import logging
import re
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import requests

from portal.backend import backend
from portal.core.i18n import _l

log = logging.getLogger(__name__)
NUMBER = re.compile(r"\b(?:round|ronda)\s+([1-9][0-9]{0,8})\b", re.IGNORECASE)
PATIENCE = 3.0  # seconds to connect, and between parts of the answer
LONGEST = 10_000  # bytes of an answer
VALUE = re.compile(r"[0-9a-f]{64}")
REFUSED = _l(
    "The source must name the chain and the number of a round of drand, and the round must not"
    " appear before the value may be known. Edit the source."
)


@dataclass(frozen=True)
class Chain:
    """A chain of drand: its hash, when its first round appeared (s), and the seconds to the next.

    They are fixed by its makers. https://api.drand.sh/HASH/info has them too.
    """

    hash: str
    genesis: int
    period: int

    def first(self, at: int) -> int:
        """Return the number of the first round that appears at a moment (ms) or later."""
        return max(1, 1 - (1000 * self.genesis - at) // (1000 * self.period))


CHAINS = {
    "quicknet": Chain(
        "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971", 1692803367, 3
    ),
    "default": Chain(
        "8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce", 1595431050, 30
    ),
    "evmnet": Chain(
        "04f1e9062b8a81f848fded9c12306733282b2727ecced50032187751166ec8c3", 1727521075, 3
    ),
}


@dataclass(frozen=True)
class DrandRound:
    name: str
    number: int

    @property
    def chain(self) -> Chain:
        return CHAINS[self.name]

    @property
    def appears(self) -> int:
        """When the round appears (ms)."""
        return 1000 * (self.chain.genesis + (self.number - 1) * self.chain.period)


def is_named(source: str) -> bool:
    """Return whether a source speaks of drand."""
    return "drand" in source.lower()


def find(source: str) -> DrandRound | None:
    """Return the round of a source such as “drand quicknet round 4711”; None if it is not clear."""
    names = [each for each in CHAINS if re.search(rf"\b{each}\b", source, re.IGNORECASE)]
    numbers = NUMBER.findall(source)
    if not is_named(source) or (len(names), len(numbers)) != (1, 1):
        return None
    return DrandRound(names[0], int(numbers[0]))


def suits(source: str, at: int) -> bool:
    """Return whether no one knows the source before a moment (ms), as far as the portal can tell.

    A round of drand must be clear, and appear then or later. Of other sources it knows nothing.
    """
    found = find(source)
    return found.appears >= at if found else not is_named(source)


def fetch(source: str) -> str | None:
    """Return the public value of a source such as “drand quicknet round 4711”.

    None if FAIRSEAT_DRAND is not the address of its chain, and for other sources; empty if drand
    has no such round yet, or does not answer as it should.
    """
    found, address = find(source), backend().settings.drand
    if found is None or found.chain.hash not in address:
        return None
    try:
        return _value(address, found.number)
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        log.warning("Round %s of drand can’t be fetched: %s", found.number, error)
        return ""


def _value(chain: str, number: int) -> str:
    address = f"{chain}/public/{number}"
    with requests.get(address, timeout=PATIENCE, allow_redirects=False, stream=True) as answer:
        answer.raise_for_status()
        text = answer.raw.read(LONGEST, decode_content=True)
    found: dict[str, Any] = json.loads(text)
    value, signature = found["randomness"], bytes.fromhex(found["signature"])
    # The randomness of a round is the hash of its signature.
    if found["round"] != number or not VALUE.fullmatch(value):
        raise ValueError("It is another round.")
    if sha256(signature).hexdigest() != value:
        raise ValueError("The randomness is not that of the signature.")
    return str(value)
