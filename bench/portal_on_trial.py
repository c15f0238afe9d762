"""The whole portal on durable servers of its own, and the claims of a rush against it."""

import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import urlencode

from flask import Flask, session
from flask_wtf.csrf import generate_csrf
from sqlalchemy import select, update

from portal.backend import backend
from portal.catalog.models import Term
from portal.db import transaction
from portal.gate import guard, passes
from portal.gate.passes import STAY, Pass
from portal.people import sessions
from portal.people.accounts import Visitor
from portal.people.models import Account, Student
from tests import cast

SECTIONS = 200
SEATS = 30
CREDIT_LIMIT = 60
FROM = {"REMOTE_ADDR": "127.0.0.1", "HTTP_USER_AGENT": "bench"}


@contextmanager
def a_rush(students: int) -> Iterator[int]:
    """A new term whose window is open, for so many students; gives the term's id."""
    term = cast.a_term(f"Bench {secrets.token_hex(4)}", credit_limit=CREDIT_LIMIT)
    for number in range(SECTIONS):
        course = cast.a_course(f"BEN-{term.id}{number:03}")
        cast.a_section(course, term, capacity=SEATS, waitlist=students, crn=f"{number}")
    cast.an_open_window(term)
    known = _students()
    for number in range(len(known), students):
        cast.a_student(f"bench{number}")
    yield term.id
    with transaction() as db:
        db.execute(update(Term).where(Term.id == term.id).values(deleted_at=Term.starts_on))


@dataclass(frozen=True)
class Browser:
    """What a browser sends along whose student has logged in, and whose turn has come."""

    cookies: str
    token: str
    held: Pass


def claims(app: Flask, term: int, students: int, each: int, *, turn: bool = True) -> list[bytes]:
    """Whole requests: so many claims by each of so many students who are logged in.

    Without their `turn` they have no pass.
    """
    chance = random.Random(term)
    sections = sorted(backend().ledger.seats(term))
    [window] = backend().ledger.windows(term)
    browsers = [_browser(app, term, window.id, *known) for known in _students()[:students]]
    with app.app_context():
        wishes = [
            _request(browser, section, turn=turn)
            for browser in browsers
            for section in chance.sample(sections, each)
        ]
    chance.shuffle(wishes)
    return wishes


def cookies(app: Flask, named: str, last: int) -> list[str]:
    """The cookies of the last so many students so named, logged in."""
    return [_browser(app, 0, 0, *known).cookies for known in _students(named)[-last:]]


def _students(named: str = "bench") -> list[tuple[int, int]]:
    mine = Account.username.startswith(named)
    query = select(Account.id, Account.session_epoch).join(Student).where(mine)
    with transaction() as db:
        return [(row.id, row.session_epoch) for row in db.execute(query.order_by(Account.id))]


def _browser(app: Flask, term: int, window: int, account: int, epoch: int) -> Browser:
    """As a login and the gate would leave it."""
    now = int(time.time())
    with app.test_request_context(environ_base=FROM):
        sessions.begin(Visitor(account, "", frozenset({"student"}), None, frozenset(), epoch))
        token = generate_csrf()
        signed = app.session_interface.get_signing_serializer(app).dumps(dict(session))
    held = Pass(account, term, window, now * 1000 + STAY)
    return Browser(f"{app.config['SESSION_COOKIE_NAME']}={signed}", token, held)


def _request(browser: Browser, section: int, *, turn: bool) -> bytes:
    held, cookies = browser.held, browser.cookies
    form = {"csrf_token": browser.token, "request": secrets.token_hex(16), "wait": "1"}
    body = urlencode({**form, "ticket": passes.ticket(held, section)})
    if turn:
        cookies += f"; {guard.COOKIE}={passes.write(held)}"
    return (
        f"POST /terms/{held.term}/sections/{section}/pick HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nCookie: {cookies}\r\nHX-Request: true\r\nUser-Agent: bench\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
