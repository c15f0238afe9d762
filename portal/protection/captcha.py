"""The captcha: proofs of work that browsers do by themselves. Each counts once."""

import logging
from collections.abc import Callable
from typing import Any, TypeVar

from altcha import Payload

from portal.backend import backend
from portal.core import flags
from portal.core.breakers import BreakerOpen
from portal.ledger.function_library import translate_errors
from portal.protection import captcha_puzzle, captcha_server, evidence
from portal.protection.captcha_puzzle import NotProven
from portal.protection.captcha_server import CaptchaServer, ServerFailed

__all__ = ["NotProven", "challenge", "check", "enabled"]

T = TypeVar("T")

CLOCK_SKEW = 60  # seconds between the clocks of two nodes

log = logging.getLogger(__name__)


def enabled() -> bool:
    return backend().settings.captcha != "off" and flags.on("captcha")


def challenge(account: int) -> dict[str, Any]:
    """Return a puzzle for an account, as ALTCHA's solvers take it."""
    theirs = _ask_server(lambda server: server.challenge(account), otherwise=None)
    made = theirs or captcha_puzzle.make(account, backend().settings.captcha_cost)
    return made.to_dict()


def check(payload: str, account: int) -> None:
    """Accept the solution of a captcha once, and record how the account proved itself.

    Raises NotProven, or LedgerUnavailable where it is unknown whether it was used before.
    """
    solved = captcha_puzzle.read(payload, account)
    with translate_errors():
        used = f"captcha:used:{solved.challenge.signature}"
        lasts = captcha_puzzle.LASTS + CLOCK_SKEW
        fresh = backend().redis.set(used, account, nx=True, ex=lasts)
    if not fresh:
        raise NotProven("replayed")
    of_server = "remote" in captcha_puzzle.data_of(solved)
    if of_server and not _server_agrees(solved):
        raise NotProven("bad")
    evidence.record_proof(account, "remote" if of_server else "work")


def _server_agrees(solved: Payload) -> bool:
    return _ask_server(lambda server: server.agrees(solved), otherwise=True)


def _ask_server(ask: Callable[[CaptchaServer], T], *, otherwise: T) -> T:
    """Return what the captcha server says; `otherwise` where there is none or it is away."""
    address = backend().settings.captcha
    if "://" not in address or not flags.on("captcha_server"):
        return otherwise
    try:
        return ask(captcha_server.at(address))
    except BreakerOpen:
        return otherwise
    except ServerFailed as error:
        log.warning("The captcha server failed: %s", error)
        return otherwise
