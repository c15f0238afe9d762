"""Proofs: given out for an account, taken once, and remembered by the session that brought one."""

import logging
from collections.abc import Callable
from time import time
from typing import Any, TypeVar

from altcha import Payload
from flask import current_app, session

from portal.backend import backend
from portal.breakers import Resting
from portal.core import flags
from portal.core.settings import Settings
from portal.ledger.function_library import translate_errors
from portal.protection import evidence
from portal.protection.captcha import puzzle, remote
from portal.protection.captcha.refusals import NotProven
from portal.protection.captcha.remote import Away, Remote
from portal.web.http.access import visitor

Answer = TypeVar("Answer")

KEPT_AS = "proven"  # in the session: the account, and until when
LASTS = 12 * 60 * 60  # seconds
SKEW = 60  # seconds by which clocks of nodes may differ

log = logging.getLogger(__name__)


def needed() -> bool:
    """Whether anybody is asked for a proof at all."""
    gate = bool(current_app.config["GATE"])
    return gate and _settings().captcha != "off" and flags.on("captcha")


def proven() -> bool:
    """Whether the visitor's session has shown that it is no robot, or needs not."""
    account, until = session.get(KEPT_AS, (0, 0))
    return not needed() or (account == visitor().id and time() < until)


def challenge(account: int) -> dict[str, Any]:
    """A puzzle for an account, as ALTCHA's solvers take it."""
    theirs = _of_server(lambda server: server.challenge(account), otherwise=None)
    return (theirs or puzzle.make(account, _settings().captcha_cost)).to_dict()


def check(payload: str, account: int) -> None:
    """Take the solution of a puzzle, of which each counts once, and keep how it was proved.

    Raises NotProven, or LedgerUnavailable where nobody can say whether it has been used.
    """
    solved = puzzle.read(payload, account)
    with translate_errors():
        used = f"captcha:used:{solved.challenge.signature}"
        fresh = backend().redis.set(used, account, nx=True, ex=puzzle.LASTS + SKEW)
    if not fresh:
        raise NotProven("replayed")
    if not _agreed(solved):
        raise NotProven("bad")
    evidence.record_proof(account, "remote" if "remote" in puzzle.told(solved) else "work")


def prove(payload: str) -> None:
    """Take the solution of a puzzle for the visitor's session; raises what `check` raises."""
    check(payload, visitor().id)
    remember()


def remember() -> None:
    """Let the visitor's session count as shown to be no robot's."""
    session[KEPT_AS] = (visitor().id, int(time()) + LASTS)


def _agreed(solved: Payload) -> bool:
    """Whether the server that made the puzzle, if one did, takes its solution as we do."""
    return "remote" not in puzzle.told(solved) or _of_server(
        lambda it: it.agrees(solved), otherwise=True
    )


def _of_server(ask: Callable[[Remote], Answer], *, otherwise: Answer) -> Answer:
    """What the captcha server says; `otherwise` where there is none or it is away."""
    server = _remote()
    if server is None:
        return otherwise
    try:
        return ask(server)
    except Resting:
        return otherwise
    except Away as error:
        log.warning("The captcha server failed: %s", error)
        return otherwise


def _remote() -> Remote | None:
    address = _settings().captcha
    return remote.at(address) if "://" in address and flags.on("captcha_server") else None


def _settings() -> Settings:
    settings: Settings = current_app.config["SETTINGS"]
    return settings
