"""The randomness of a round of drand, for the registrar who enters it as a public value.

It is fetched from the HTTP API of one chain, if the portal may use it (`FAIRSEAT_DRAND`). The
signature of drand is not checked, as anyone can compare the value with its source.
"""

import json
import logging
import re
from hashlib import sha256
from typing import Any

import requests

from portal.backend import backend

log = logging.getLogger(__name__)
NAMED = re.compile(r"\bdrand\b.*?\bround\s+([1-9][0-9]{0,14})\b", re.IGNORECASE)
PATIENCE = 3.0  # seconds to connect, and between parts of the answer
LONGEST = 10_000  # bytes of an answer
VALUE = re.compile(r"[0-9a-f]{64}")


def fetch(source: str) -> str | None:
    """Return the public value of a source such as “drand round 4711”.

    None without FAIRSEAT_DRAND and for other sources; empty if drand has no such round yet, or does
    not answer as it should.
    """
    named, chain = NAMED.search(source), backend().settings.drand
    if not (named and chain):
        return None
    try:
        return _value(chain, int(named[1]))
    except (requests.RequestException, ValueError, KeyError, TypeError) as error:
        log.warning("Round %s of drand can’t be fetched: %s", named[1], error)
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
