"""One more try at a password than a stranger has, for each captcha solved."""

import secrets
from contextlib import suppress

from flask import session
from redis.exceptions import RedisError

from portal.backend import backend
from portal.ledger.function_library import translate_errors
from portal.protection import captcha

NOBODY = 0  # the account of a puzzle for someone who has not logged in
KEPT_AS = "one_more"  # in the session
LASTS = 10 * 60  # seconds


def earn(payload: str) -> None:
    """Take a solution, for one more try; raises NotProven, or LedgerUnavailable."""
    captcha.check(payload, NOBODY)
    session[KEPT_AS] = secrets.token_urlsafe(12)
    # Whoever keeps a copy of the session's cookie has one more try all the same.
    with translate_errors():
        backend().redis.set(_name(session[KEPT_AS]), 1, ex=LASTS)


def spend() -> bool:
    """Whether there was one more try, which is this one."""
    one_more = session.pop(KEPT_AS, "")
    with suppress(RedisError):
        return bool(one_more and backend().redis.delete(_name(one_more)))
    return False


def _name(one_more: str) -> str:
    return f"login:one-more:{one_more}"
