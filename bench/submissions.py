"""Time to send an application, compared with a bare form post.

Students have filled in late adds. Each sends one: its state, history, audit entry, notifications
and mails are one transaction. The bare form post is a Flask view that reads the same form and
stores one row in the same PostgreSQL. Both run in one process, without HTTP and the network, and
both wait for the commit. The first requests warm the process.
"""

from bench import claim_cost, portal_on_trial  # isort: skip  claim_cost patches the process first

import time
from collections.abc import Iterable
from statistics import median
from typing import TYPE_CHECKING, Any

from flask import Flask, request
from sqlalchemy import select, text

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.backend import backend
from portal.core.db import transaction
from portal.people.models import Account

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

STUDENTS, WARM = 300, 20
FIGURES = {
    "submission_ms": ("ms", "median time to send an application, without HTTP and network"),
    "submission_p99_ms": ("ms", "99th percentile of the same"),
    "submission_bare_ms": ("ms", "median time of a bare form post that stores one row"),
    "submission_vs_bare": ("ratio", "time of a submission over that of a bare form post"),
}
bare = Flask("bare")


@bare.post("/")
def store() -> str:
    """Store a form as one row."""
    with transaction() as session:
        row = {"why": request.form.get("why", "")}
        session.execute(text("INSERT INTO bench_posts (why) VALUES (:why)"), row)
    return "stored"


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return one run's figures, by the names above."""
    app = claim_cost.application(quick=quick)
    warm, students = (2, 12) if quick else (WARM, WARM + STUDENTS)
    bare.config["SETTINGS"] = app.config["SETTINGS"]  # statements name the request they are from
    _prepare()
    with portal_on_trial.a_rush(students) as term:
        sent = _times(app, _submissions(app, term, students))[warm:]
    form = portal_on_trial.post("/", "", why="I need it to graduate.")
    plain = _times(bare, [claim_cost.environ(form) for _ in range(students)])[warm:]
    return {
        "submission_ms": median(sent),
        "submission_p99_ms": sorted(sent)[int(0.99 * len(sent))],
        "submission_bare_ms": median(plain),
        "submission_vs_bare": median(sent) / median(plain),
    }


def _prepare() -> None:
    """Create the table of the bare form post."""
    with transaction() as session:
        session.execute(text("CREATE TABLE IF NOT EXISTS bench_posts (id serial, why text)"))


def _submissions(app: Flask, term: int, students: int) -> list[dict[str, Any]]:
    """Return the requests that send a draft of each student."""
    section = min(backend().ledger.seats(term))
    mine = select(Account.id).join(Account.student).where(Account.username.startswith("bench"))
    with transaction() as session:
        accounts = session.scalars(mine.order_by(Account.id).limit(students)).all()
    found = []
    browsers = portal_on_trial.browsers(app, term, students)
    for account, browser in zip(accounts, browsers, strict=True):
        made = service.start(KINDS["late_add"], account, term, section)
        service.save(made, account, {"why": "I need it to graduate."})
        address = f"/terms/{term}/applications/{made}/review"
        sent = portal_on_trial.post(address, browser.cookies, csrf_token=browser.token)
        found.append(claim_cost.environ(sent))
    return found


def _times(app: "WSGIApplication", requests: Iterable[dict[str, Any]]) -> list[float]:
    """Return the ms of each request; raise SystemExit if one fails."""

    def begin(status: str, *_: object) -> Any:
        if not status.startswith("2"):
            raise SystemExit(f"A request failed: {status}")
        return lambda _: None

    found = []
    for each in requests:
        began = time.perf_counter()
        parts = app(each, begin)
        b"".join(parts)
        if close := getattr(parts, "close", None):
            close()
        found.append((time.perf_counter() - began) * 1000)
    return found
