"""How often a password may be tried, so that guessers are slowed and nobody is locked out.

Beyond its budget a stranger's try needs a captcha. A device that the name has logged in on has a
budget of its own, which no stranger can spend.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from flask import request

from portal.gate.meter import Charge, Limit, meters
from portal.people import devices

# Of tries that failed.
OF_PAIR = Limit("login", at_once=10, a_minute=1)  # one name from one address, or on one device
OF_NAME = Limit("login-name", at_once=100, a_minute=100 / 60)  # one name, wherever from
OF_ADDRESS = Limit("login-from", at_once=1000, a_minute=1000)  # a whole campus may share one
# Those that succeed too: each costs a hash.
ALL_OF_PAIR = Limit("login-tries", at_once=60, a_minute=60)


@dataclass(frozen=True)
class Tries:
    """The failed tries that this one is counted with, and all of its own name and whereabouts."""

    budgets: Sequence[Charge]
    pair: Charge

    def wait(self) -> int:
        """Seconds until there may be another; 0 where it may be now."""
        return ceil(meters().look(self.pair, *self.budgets) / 1000)

    def begin(self) -> None:
        """Count this one."""
        meters().owe(self.pair)

    def fail(self) -> None:
        """Count this one as failed."""
        meters().owe(*self.budgets)


def of(name: str, *, everywhere: bool) -> Tries:
    """The tries of a name in this request; with those from `everywhere` if a captcha leads past."""
    device = devices.known(name)
    if device:
        return Tries([Charge(OF_PAIR, device)], Charge(ALL_OF_PAIR, device))
    address = request.remote_addr or ""
    pair = f"{name}@{address}"
    budgets = [Charge(OF_PAIR, pair), Charge(OF_ADDRESS, address)]
    named = [Charge(OF_NAME, name)] if everywhere else []
    return Tries(budgets + named, Charge(ALL_OF_PAIR, pair))
