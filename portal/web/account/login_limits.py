"""Limits on password attempts: they slow guessers down and lock no one out.

An attempt is charged before its password is compared, in one step with the check, so concurrent
attempts can't all pass. A success is refunded. Over the limit, an unknown device needs a captcha
for each attempt. A device that the account has logged in on has its own limit.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import ceil

from redis.exceptions import RedisError

from portal.backend import backend
from portal.ledger.function_library import translate_errors
from portal.protection.rate_limits import Charge, RateLimit, rate_limiter
from portal.web.account import devices
from portal.web.http.request_info import client_address

# These limits count failed attempts, and attempts whose password is being compared.
OF_PAIR = RateLimit("login", at_once=10, a_minute=1)  # one name from one address, or on one device
OF_NAME = RateLimit("login-name", at_once=100, a_minute=100 / 60)  # one name, from any address
OF_ADDRESS = RateLimit("login-from", at_once=1000, a_minute=1000)  # a whole campus may share one
# This counts successful attempts too: each costs a hash.
ALL_OF_PAIR = RateLimit("login-tries", at_once=60, a_minute=60)

LONGEST = 2 * 60 * 60  # seconds, after which every charge is earned back


@dataclass(frozen=True)
class Tries:
    """The limits that a password attempt is charged to."""

    budgets: Sequence[Charge]  # refunded after a success
    pair: Charge
    spent: Sequence[Charge] = ()  # charges to the limits, if one of them was used up already

    def charge(self) -> int:
        """Charge all limits and return 0, or charge none and return the seconds to wait."""
        return ceil(rate_limiter().reserve(self.pair, *self.budgets) / 1000)

    def charge_anyway(self) -> "Tries":
        """Charge this attempt although a limit is used up, because a captcha was solved for it."""
        _pair, *spent = rate_limiter().take_rest(self.pair, *self.budgets)
        return replace(self, spent=spent)

    def refund(self) -> None:
        """Refund the charge: no wrong password was compared."""
        rate_limiter().refund(*(self.spent or self.budgets))

    def wait(self) -> int:
        """Return the seconds until another attempt is within the limits; 0 if it is now."""
        return ceil(rate_limiter().check(self.pair, *self.budgets) / 1000)


def unlock(name: str) -> None:
    """Forget the failed attempts of a user name: its next ones are charged to new limits.

    Raise LedgerUnavailable.
    """
    with translate_errors():
        sent = backend().redis.pipeline()
        sent.incr(_unlocked(name))
        sent.expire(_unlocked(name), LONGEST)
        sent.execute()


def of(name: str, *, everywhere: bool) -> Tries:
    """Return the limits of a user name for this request.

    With `everywhere`, attempts from all addresses count together. Use it only where a captcha
    allows further attempts.
    """
    device, unlocks = devices.known(name), _unlocks(name)
    if device:
        device += unlocks
        return Tries([Charge(OF_PAIR, device)], Charge(ALL_OF_PAIR, device))
    address, name = client_address(), name + unlocks
    pair = f"{name}@{address}"
    budgets = [Charge(OF_PAIR, pair), Charge(OF_ADDRESS, address)]
    named = [Charge(OF_NAME, name)] if everywhere else []
    return Tries(budgets + named, Charge(ALL_OF_PAIR, pair))


def _unlocks(name: str) -> str:
    """Return what tells the limits of a user name from those before it was last unlocked."""
    with suppress(RedisError):
        found = backend().redis.get(_unlocked(name))
        return f" {int(found)}" if found else ""
    return ""


def _unlocked(name: str) -> str:
    return f"login:unlocked:{name}"
