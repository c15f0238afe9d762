"""Rate limits of requests: each request has a cost, counted for its account or its address.

Logged-in users never share a limit with others at the same address, so thousands may share one. A
request is counted once, after every check that needs no Redis; a request for a decision by the
ledger, in the step that decides.
"""

from collections.abc import Mapping
from contextlib import suppress
from math import ceil

from flask import Flask, Response, current_app, g, request, session
from flask_login import current_user

from portal.core import flags
from portal.core.cache import AWAY
from portal.ledger.errors import RateLimited
from portal.ledger.types import Rate
from portal.protection import evidence
from portal.protection.rate_limits import Charge, RateLimit, rate_limiter
from portal.web.http.request_info import client_address

# Per account, over all its devices; decisions per student and term.
DECISIONS = RateLimit("decisions", at_once=60, a_minute=10)  # 600 an hour: each is journaled
LEAVES = RateLimit("leaves", at_once=20, a_minute=6)  # of a waiting room: each is journaled too
PLANNING = RateLimit("planning", at_once=120, a_minute=60)
REQUESTS = RateLimit("requests", at_once=300, a_minute=300)
PROOFS = RateLimit("proofs", at_once=30, a_minute=30)
CODES = RateLimit("codes", at_once=3, a_minute=0.1)  # each sends a mail
# Per address, for visitors who are not logged in: a whole campus may arrive at once.
REQUESTS_WITHOUT_LOGIN = RateLimit("strangers", at_once=30_000, a_minute=30_000)
# Refusals with a full page; further ones get a single line. Each process counts its own.
REFUSALS = RateLimit("refusals", at_once=60, a_minute=60)
REFUSALS_WITHOUT_LOGIN = RateLimit("strangers-refusals", at_once=600, a_minute=600)
# Unknown personal access tokens, per address: each one is looked up in PostgreSQL.
GUESSES = RateLimit("guesses", at_once=600, a_minute=600)

FREE = {
    "static",
    "live.clock",
    "calendar.feed",  # it has its own limit
    "health.live",
    "health.ready",
    "health.health",
    "metrics.scrape",
}
# Thousands ask at an opening, and counting in Redis would add a tenth to the response time.
COUNTED_HERE = {"live.waiting", "student.term"}
# For logged-in users: views that cost something other than one of REQUESTS.
COSTS: Mapping[str, tuple[RateLimit, int]] = {
    "student.claim": (DECISIONS, 1),
    "student.swap_seats": (DECISIONS, 1),
    "student.drop_seat": (DECISIONS, 1),
    "student.leave_waitlist": (DECISIONS, 1),
    "api.drop": (DECISIONS, 1),
    "api.leave": (DECISIONS, 1),
    # These may write a refusal for each of many sections.
    "api.register": (DECISIONS, 2),
    "student.submit_plan": (DECISIONS, 3),
    "student.leave_room": (LEAVES, 1),
    "student.change_plan": (PLANNING, 1),
    "student.plan_section": (PLANNING, 1),
    "live.socket": (REQUESTS, 3),
    # Once a minute each process reads and sorts ten thousand requests.
    "student.show_order": (REQUESTS, 20),
    "student.order_file": (REQUESTS, 20),
    "student.draw_file": (REQUESTS, 20),
    # The first one reads megabytes, or computes a hash tree.
    "student.published_file": (REQUESTS, 20),
    "student.inclusion": (REQUESTS, 20),
    "captcha.solve": (PROOFS, 1),
    "captcha.enter": (PROOFS, 1),
    "captcha.send": (CODES, 1),
}
COSTS_WITHOUT_LOGIN: Mapping[str, int] = {
    "login.log_in": 10,  # hashing a password takes time
    "login.challenge": 3,
    "login.solve": 3,
    "oidc.come_back": 10,  # it calls the provider
    "student.show_order": 20,
    "student.order_file": 20,
    "student.draw_file": 20,
}


class TooMany(Exception):
    """A rate limit is used up, for so many seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(wait)
        self.seconds = ceil(wait / 1000)


def start(app: Flask) -> None:
    """Count every request; start this after all checks that need no Redis."""
    app.before_request(_count)
    app.after_request(_count_unasked)


def spend(*charges: Charge) -> None:
    """Take charges from their limits. Raise TooMany."""
    wait = rate_limiter().spend(*charges)
    if wait:
        raise TooMany(wait)


def decides() -> bool:
    """Return whether this request asks for a decision about seats."""
    return COSTS.get(request.endpoint or "", (REQUESTS, 1))[0] is DECISIONS


def refusal_wait() -> int:
    """Return the seconds until a refusal gets a full page again, or 0. Needs no store."""
    if not _enforced():
        return 0
    account = str(session.get("_user_id", "")).partition(".")[0]
    charge = (
        Charge(REFUSALS, account) if account else Charge(REFUSALS_WITHOUT_LOGIN, client_address())
    )
    return ceil(max(rate_limiter().own.count("spend", [charge])) / 1000)


def count_guess() -> None:
    """Count an unknown personal access token before it is looked up. Raise TooMany."""
    if _enforced():
        try:
            _spend_here(Charge(GUESSES, client_address()))
        except TooMany:
            g.skips_account = True
            raise


def _count() -> None:
    if request.endpoint in FREE or not _enforced():
        return
    charge = _charge()
    if request.endpoint in COUNTED_HERE:
        _spend_here(charge)
    elif charge.limit is not DECISIONS:
        spend(charge)
    elif wait := max(rate_limiter().own.count("check", [charge])):
        evidence.record_limited(int(charge.who))
        raise TooMany(wait)
    else:
        g.decision_charge = charge


def take_charge() -> Rate | None:
    """Return the cost of this request, for the ledger to count as it decides; None for no limit."""
    charge: Charge | None = g.get("decision_charge")
    g.asked_ledger = True
    return Rate(charge.time, charge.size) if charge else None


def refused(error: RateLimited) -> int:
    """Note that the ledger refused this request over the limit; return the seconds to wait."""
    charge: Charge = g.decision_charge
    rate_limiter().own.hold(charge, error.wait)
    evidence.record_limited(int(charge.who))  # the fairness report shows it
    return ceil(error.wait / 1000)


def _count_unasked(response: Response) -> Response:
    """Count a request for a decision that the ledger did not answer like any other request."""
    if "decision_charge" in g and ("asked_ledger" not in g or response.status_code == 503):
        with suppress(TooMany):
            spend(Charge(REQUESTS, g.decision_charge.who))
    return response


def _spend_here(charge: Charge) -> None:
    """Take a charge from a limit that this process counts alone. Raise TooMany."""
    wait = max(rate_limiter().own.count("spend", [charge]))
    if wait:
        raise TooMany(wait)


def _enforced() -> bool:
    return bool(current_app.config["GATE"]) and flags.on("rate_limits")


def _charge() -> Charge:
    account, endpoint = _account(), request.endpoint or ""
    if account is None:
        return Charge(
            REQUESTS_WITHOUT_LOGIN, client_address(), COSTS_WITHOUT_LOGIN.get(endpoint, 1)
        )
    limit, cost = COSTS.get(endpoint, (REQUESTS, 1))
    return Charge(limit, account, cost)


def _account() -> str | None:
    try:
        return str(current_user.actor) if current_user.is_authenticated else None
    except AWAY:
        return None
