"""The whole portal on durable servers of its own, and the claims of a rush against it."""

import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlencode

from flask import Flask, session
from flask_wtf.csrf import generate_csrf
from sqlalchemy import select, update

from portal.backend import backend
from portal.catalog.models import Term
from portal.db import transaction
from portal.people.models import Account, Student
from tests import cast

SECTIONS = 200
SEATS = 30
CREDIT_LIMIT = 60


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


def claims(app: Flask, term: int, students: int, each: int) -> list[bytes]:
    """Whole requests: so many claims by each of so many students who are logged in."""
    chance = random.Random(term)
    sections = sorted(backend().ledger.seats(term))
    wishes = [
        (cookie, token, section)
        for cookie, token in (_login(app, *known) for known in _students()[:students])
        for section in chance.sample(sections, each)
    ]
    chance.shuffle(wishes)
    return [_request(term, *wish) for wish in wishes]


def _students() -> list[tuple[int, int]]:
    named = Account.username.startswith("bench")
    query = select(Account.id, Account.session_epoch).join(Student).where(named)
    with transaction() as db:
        return [(row.id, row.session_epoch) for row in db.execute(query.order_by(Account.id))]


def _login(app: Flask, account: int, epoch: int) -> tuple[str, str]:
    """The cookie and the form token of a session, as a login would give them."""
    with app.test_request_context():
        session.permanent = True
        session["_user_id"] = f"{account}.{epoch}"
        session["_fresh"] = True
        token = generate_csrf()
        signed = app.session_interface.get_signing_serializer(app).dumps(dict(session))
    return f"{app.config['SESSION_COOKIE_NAME']}={signed}", token


def _request(term: int, cookie: str, token: str, section: int) -> bytes:
    body = urlencode({"csrf_token": token, "request": secrets.token_hex(16), "wait": "1"})
    return (
        f"POST /terms/{term}/sections/{section}/pick HTTP/1.1\r\n"
        f"Host: 127.0.0.1\r\nCookie: {cookie}\r\nHX-Request: true\r\n"
        "Content-Type: application/x-www-form-urlencoded\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}"
    ).encode()
