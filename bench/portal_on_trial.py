"""Fixtures of a rush: its term, its students, and their claims as browsers send them."""

import random
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import time as clock
from typing import Any
from urllib.parse import urlencode

from flask import Flask, session
from flask_wtf.csrf import generate_csrf
from sqlalchemy import insert, select, update

from portal.backend import backend
from portal.catalog.models import Course, Meeting, Section, Term
from portal.core.db import transaction
from portal.ledger.function_library import prefix
from portal.people import passwords
from portal.people.models import Account, Student
from portal.people.visitors import Visitor
from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import LIFETIME, AccessToken
from portal.web.http import admission, sessions
from portal.windows.warmup import section_specs
from tests import cast
from tests.recorder.rush import Rush

SECTIONS = 200
SEATS = 30
CREDIT_LIMIT = 60
FROM = {"REMOTE_ADDR": "127.0.0.1", "HTTP_USER_AGENT": "bench"}


@contextmanager
def a_rush(
    students: int, sections: int = SECTIONS, *, seats: int = SEATS, minutes: float = 0
) -> Iterator[int]:
    """Create a term with a window that is open, or opens in `minutes`; yield the term's id.

    Its sections have meetings, but these never count as clashes.
    """
    made = {"credit_limit": CREDIT_LIMIT, "drops_per_day": 3}
    term = cast.a_term(f"Bench {secrets.token_hex(4)}", **made)
    _fill(term, sections, seats, waitlist=students)
    if minutes:
        cast.a_coming_window(term, minutes)
    else:
        cast.an_open_window(term)
    enroll(students)
    yield term.id
    with transaction() as db:
        db.execute(update(Term).where(Term.id == term.id).values(deleted_at=Term.starts_on))


def enroll(students: int) -> None:
    """Create students bench0, bench1, … up to this number, all with the same password."""
    known = len(_students())
    hashed = passwords.hash_password(cast.PASSWORD)
    named = [
        {"username": f"bench{number}", "name": f"Bench {number}", "password_hash": hashed}
        for number in range(known, students)
    ]
    if not named:
        return
    with transaction() as db:
        made = list(db.scalars(insert(Account).returning(Account.id), named))
        db.execute(
            insert(Student),
            [{"account_id": account, "number": f"N{account:06}"} for account in made],
        )


@dataclass(frozen=True)
class Browser:
    """What a logged-in student's browser sends; `held` is the access token once admitted."""

    cookies: str
    token: str
    held: AccessToken


def claims(app: Flask, term: int, students: int, each: int, *, turn: bool = True) -> list[bytes]:
    """Return `each` claims of each logged-in student, as whole requests in random order.

    Without `turn` they carry no access token.
    """
    chance = random.Random(term)
    sections = sorted(backend().ledger.seats(term))
    each = min(each, len(sections))
    asking = browsers(app, term, students)
    _admit(term, students)
    with app.app_context():
        wishes = [
            _claim(browser, section, turn=turn)
            for browser in asking
            for section in chance.sample(sections, each)
        ]
    chance.shuffle(wishes)
    return wishes


def browsers(app: Flask, term: int, students: int) -> list[Browser]:
    """Return logged-in students, each with an access token for the window of the term."""
    [window] = backend().ledger.windows(term)
    return [_browser(app, term, window.id, *known) for known in _students()[:students]]


def _admit(term: int, many: int) -> None:
    """Mark the students as admitted, as the waiting room's functions do one by one."""
    [window] = backend().ledger.windows(term)
    visits = {str(student): window.closes for student in students(many)}
    backend().redis.zadd(f"{prefix(term)}:room:{window.id}:in", visits)


def students(many: int) -> list[int]:
    """Return the ids of the first `many` students, as the ledger knows them."""
    query = select(Student.id).join(Student.account).where(Account.username.startswith("bench"))
    with transaction() as db:
        return list(db.scalars(query.order_by(Student.id).limit(many)))


def rush_of(term: int, many: int) -> Rush:
    """Return the term as tests know it, with the first `many` students."""
    [window] = backend().ledger.windows(term)
    return Rush(term, sorted(backend().ledger.seats(term)), students(many), window.id)


def cookies(app: Flask, numbers: range) -> list[str]:
    """Return session cookies of the students with these numbers."""
    everyone = _students()
    return [_browser(app, 0, 0, *everyone[number]).cookies for number in numbers]


def _fill(term: Term, sections: int, seats: int, waitlist: int) -> None:
    """Create sections, each with its own course."""
    subject, department = cast.a_subject("BEN").id, cast.a_department().id
    common = {"credits_min": 3, "credits_max": 3}
    whose = {"subject_id": subject, "department_id": department, **common}
    with transaction() as db:
        codes = [f"BEN-{term.id}{number:04}" for number in range(sections)]
        taught = [{"code": code, "title": f"Course {code}", **whose} for code in codes]
        courses = list(db.scalars(insert(Course).returning(Course.id), taught))
        offered = [
            {
                **common,
                "term_id": term.id,
                "course_id": course,
                "crn": str(10_000 + number),
                "number": "01",
                "title": f"Course {codes[number]}",
                "capacity": seats,
                "waitlist_capacity": waitlist,
                "status": "OPEN",
            }
            for number, course in enumerate(courses)
        ]
        made = list(db.scalars(insert(Section).returning(Section.id), offered))
        db.execute(insert(Meeting), [_meeting(term, *each) for each in enumerate(made)])
        specs = section_specs(db, term.id)
    backend().ledger.put_sections(term.id, specs)


def _meeting(term: Term, number: int, section: int) -> dict[str, Any]:
    hour = 8 + number % 10
    return {
        "section_id": section,
        "position": 0,
        "kind": "CLASS",
        "days": (0b01001, 0b10010, 0b10101)[number % 3],
        "starts_at": clock(hour),
        "ends_at": clock(hour, 50),
        "date_start": term.starts_on,
        "date_end": term.ends_on,
        "clashes": False,
    }


def _students() -> list[tuple[int, int]]:
    mine = Account.username.startswith("bench")
    query = select(Account.id, Account.session_epoch).join(Account.student).where(mine)
    with transaction() as db:
        return [(row.id, row.session_epoch) for row in db.execute(query.order_by(Account.id))]


def _browser(app: Flask, term: int, window: int, account: int, epoch: int) -> Browser:
    """Return a browser as a login and the gate leave it."""
    now = int(time.time())
    with app.test_request_context(environ_base=FROM):
        sessions.begin(Visitor(account, "", frozenset({"student"}), None, frozenset(), epoch))
        token = generate_csrf()
        cookies = _measured_ledger(app)
    held = AccessToken(account, term, window, now * 1000 + LIFETIME)
    return Browser(cookies, token, held)


def _claim(browser: Browser, section: int, *, turn: bool) -> bytes:
    held, cookies = browser.held, browser.cookies
    form = {"request": secrets.token_hex(16), "wait": "1"}
    if turn:
        cookies += f"; {admission.COOKIE}={access_tokens.encode(held)}"
    token = browser.token
    return post(f"/terms/{held.term}/sections/{section}/pick", cookies, csrf_token=token, **form)


def stranger(app: Flask) -> tuple[str, str]:
    """Return the cookies of a visitor on the login page, and the CSRF token of its form."""
    with app.test_request_context(environ_base=FROM):
        token = generate_csrf()
        return _measured_ledger(app), token


def get(address: str, cookies: str = "", *, target: str = "") -> bytes:
    """Return a request for a page; with `target`, an htmx request for the part with that id."""
    more = f"HX-Request: true\r\nHX-Target: {target}\r\n" if target else ""
    return f"GET {address} HTTP/1.1\r\n{_head(cookies)}{more}\r\n".encode()


def post(address: str, cookies: str, **form: str) -> bytes:
    """Return an htmx request that submits a form."""
    body = urlencode(form)
    kind = "HX-Request: true\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    head = f"{_head(cookies)}{kind}Content-Length: {len(body)}\r\n"
    return f"POST {address} HTTP/1.1\r\n{head}\r\n{body}".encode()


def _head(cookies: str) -> str:
    return f"Host: 127.0.0.1\r\nCookie: {cookies}\r\nUser-Agent: bench\r\n"


def _measured_ledger(app: Flask) -> str:
    """Return the session of the current test request as a cookie."""
    signed = app.session_interface.get_signing_serializer(app).dumps(dict(session))
    return f"{app.config['SESSION_COOKIE_NAME']}={signed}"
