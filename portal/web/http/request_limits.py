"""Limits: how much each may ask for; by account where one is known, else by address.

Who is logged in never pays for others behind the same address, so a campus of thousands may share
one. A request is counted once, after all that can be checked without Redis.
"""

from collections.abc import Mapping
from math import ceil

from flask import Flask, current_app, g, request, session
from flask_login import current_user

from portal.core import flags
from portal.core.cache import AWAY
from portal.protection import evidence
from portal.protection.rate_limits import Charge, RateLimit, rate_limiter
from portal.web.http.request_info import client_address

# Of an account, on all its devices together.
DECISIONS = RateLimit("decisions", at_once=60, a_minute=10)  # 600 an hour: each is journaled
PLANNING = RateLimit("planning", at_once=120, a_minute=60)
REQUESTS = RateLimit("requests", at_once=300, a_minute=300)
PROOFS = RateLimit("proofs", at_once=30, a_minute=30)
CODES = RateLimit("codes", at_once=3, a_minute=0.1)  # each is a mail
# Of an address, and of those behind it who are not logged in: a whole campus may arrive at once.
STRANGERS = RateLimit("strangers", at_once=30_000, a_minute=30_000)
# Refusals that are put into words; more are told in one line. Counted by each process alone.
REFUSALS = RateLimit("refusals", at_once=60, a_minute=60)
REFUSALS_OF_STRANGERS = RateLimit("strangers-refusals", at_once=600, a_minute=600)
# Access tokens that a process does not know yet, from one address: PostgreSQL is asked about each.
GUESSES = RateLimit("guesses", at_once=600, a_minute=600)

FREE = {
    "static",
    "assets.style",
    "assets.script",
    "live.clock",
    "calendar.feed",  # which counts by itself
    "health.live",
    "health.ready",
    "health.health",
    "metrics.scrape",
}
# Thousands ask at the moment of an opening, and to count it in Redis takes a tenth of the answer.
COUNTED_HERE = {"live.waiting"}
# What counts as other than one request of those that are logged in.
COSTS: Mapping[str, tuple[RateLimit, int]] = {
    "student.claim": (DECISIONS, 1),
    "student.swap_seats": (DECISIONS, 1),
    "student.drop_seat": (DECISIONS, 1),
    "student.leave_waitlist": (DECISIONS, 1),
    "api.drop": (DECISIONS, 1),
    "api.leave": (DECISIONS, 1),
    # These may leave a refusal for each of many sections.
    "api.register": (DECISIONS, 2),
    "student.submit_plan": (DECISIONS, 3),
    "student.change_plan": (PLANNING, 1),
    "student.plan_section": (PLANNING, 1),
    "live.socket": (REQUESTS, 3),
    # Once a minute and process, ten thousand requests are read and sorted.
    "student.show_order": (REQUESTS, 20),
    "student.order_file": (REQUESTS, 20),
    "captcha.solve": (PROOFS, 1),
    "captcha.enter": (PROOFS, 1),
    "captcha.send": (CODES, 1),
}
COSTS_OF_STRANGERS: Mapping[str, int] = {
    "login.log_in": 10,  # a password's hash takes its time
    "login.challenge": 3,
    "login.solve": 3,
    "oidc.come_back": 10,  # the provider is asked
    "student.show_order": 20,
    "student.order_file": 20,
}


class TooMany(Exception):  # noqa: N818  a state of the world, not a mistake
    """Somebody has asked for too much; after so many seconds they may again."""

    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.seconds = ceil(wait / 1000)


def start(app: Flask) -> None:
    """Count every request; to be started after all that refuses without asking Redis."""
    app.before_request(_count)


def spend(*charges: Charge) -> None:
    """Spend on all, or raise TooMany."""
    wait = rate_limiter().spend(*charges)
    if wait:
        raise TooMany(wait)


def decides() -> bool:
    """Whether this request asks for a decision on seats."""
    return COSTS.get(request.endpoint or "", (REQUESTS, 1))[0] is DECISIONS


def refusal_wait() -> int:
    """Seconds after which a refusal is worth its words again; 0 for this one. Asks nobody."""
    if not _enforced():
        return 0
    account = str(session.get("_user_id", "")).partition(".")[0]
    charge = (
        Charge(REFUSALS, account) if account else Charge(REFUSALS_OF_STRANGERS, client_address())
    )
    return ceil(max(rate_limiter().own.count("spend", [charge])) / 1000)


def count_guess() -> None:
    """Count a token that may be made up, before anybody is asked whose it is; raises TooMany."""
    if _enforced():
        try:
            _spend_here(Charge(GUESSES, client_address()))
        except TooMany:
            g.nobody = True
            raise


def _count() -> None:
    if request.endpoint in FREE or not _enforced():
        return
    charge = _charge()
    if request.endpoint in COUNTED_HERE:
        _spend_here(charge)
        return
    try:
        spend(charge)
    except TooMany:
        if charge.limit is DECISIONS:  # of an account, whose outcome a report looks at
            evidence.record_limited(int(charge.who))
        raise


def _spend_here(charge: Charge) -> None:
    """Spend on a meter of this process alone, or raise TooMany."""
    wait = max(rate_limiter().own.count("spend", [charge]))
    if wait:
        raise TooMany(wait)


def _enforced() -> bool:
    return bool(current_app.config["GATE"]) and flags.on("rate_limits")


def _charge() -> Charge:
    account, endpoint = _account(), request.endpoint or ""
    if account is None:
        return Charge(STRANGERS, client_address(), COSTS_OF_STRANGERS.get(endpoint, 1))
    limit, cost = COSTS.get(endpoint, (REQUESTS, 1))
    return Charge(limit, account, cost)


def _account() -> str | None:
    try:
        return str(current_user.id) if current_user.is_authenticated else None
    except AWAY:
        return None
