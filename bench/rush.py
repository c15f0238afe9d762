"""The opening: 8,000 students at one instant, 300 sections of 30 seats, three claims each.

Everyone is logged in, works off the captcha and gets in line while the lobby counts down. At the
opening all ask at one instant how they stand, on connections of their own, then again when they are
told to, come in when they are called, and open and send the form of three sections each as fast as
they are answered. The room lets in 4,000 a minute. Afterwards everything must be recorded. The
captcha is made easy, as browsers would work it off, and they are many; all else is as it comes.

The bare hello is then asked at the very same moments from the opening on, those at which each
request was due, over as many connections. `rush_answered` counts every request of the students,
also those before the opening and those that were never answered. Who gets one wrong answer asks no
more; `rush_claimed` therefore counts the claims that all would have sent.
"""

import json
import random
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import quote

from altcha import Challenge, Payload, solve_challenge
from sqlalchemy import text

from bench import load, portal_on_trial
from bench.load import Answer, Script
from bench.portal_on_trial import get, post
from bench.site import HELLO, site
from portal.backend import backend
from portal.core.db import transaction
from portal.recorder.consistency.audit import audit_term
from portal.waiting_room import room

SECTIONS, SEATS, CLAIMS, A_MINUTE = 300, 30, 3, 4000
ARRIVALS = 150  # a second that come to the lobby
HOUR = 3_600_000  # ms
WELL = {200, 204}
SOON = 2.0  # seconds from the last of them to the opening
FIELD = re.compile(rb'name="(request)" value="(\w+)"')
COOKIE = re.compile(rb"^Set-Cookie: ([^=]+)=([^;]*)", re.MULTILINE | re.IGNORECASE)
FIGURES = {
    "rush_answered": ("share", "of all requests of 8,000 students, answered as they should be"),
    "rush_claimed": ("share", "of the three claims of each student, answered as they should be"),
    "rush_oversold": ("seats", "beyond the capacity of a section"),
    "rush_unrecorded": ("claims", "answered with a seat or a place in line, but not in PostgreSQL"),
    "rush_p99_vs_hello": ("ratio", "99 % are answered within, over the bare hello's same moments"),
    "rush_p99_ms": ("ms", "99 % are answered within, from the opening on"),
    "rush_claim_p99_ms": ("ms", "99 % of the claims are answered within"),
    "rush_seconds": ("s", "from the opening until everyone has claimed"),
    "rush_generator": ("cores", "what the load generator takes of the same machine"),
}
OVERSOLD = """
SELECT coalesce(sum(greatest(0, taken - capacity)), 0)
FROM (SELECT capacity, (SELECT count(*) FROM enrollments held WHERE held.section_id = sections.id
      AND held.state = 'enrolled') AS taken FROM sections WHERE term_id = :term) AS counted
"""
KNOWN = """
SELECT account_id, section_id FROM students JOIN
  (SELECT student_id, section_id FROM enrollments WHERE term_id = :term AND state = 'enrolled'
   UNION SELECT student_id, section_id FROM waitlist_positions
   WHERE term_id = :term AND state = 'waiting') AS got ON got.student_id = students.id
"""


class Unwell(Exception):  # noqa: N818  a state of the world, not a mistake
    """Something was answered in another way than it should be; who asked goes away."""


@dataclass
class Student:
    """Somebody with a browser: what it keeps, and from the opening on, what was due when and came.

    `claims` are the answers to claims, by section.
    """

    account: int
    term: int
    window: int
    wanted: list[int]
    token: str
    jar: dict[str, str]
    asked: list[float] = field(default_factory=list)
    claims: dict[int, Answer] = field(default_factory=dict)

    @property
    def cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.jar.items())

    def keep(self, answer: Answer | None) -> Answer:
        """Take an answer with its cookies."""
        assert answer
        if answer.status not in WELL:
            raise Unwell
        self.jar |= {name.decode(): value.decode() for name, value in COOKIE.findall(answer.head)}
        return answer

    def arrive(self, at: float) -> Script:
        """Into the lobby: the captcha, and in line."""
        yield at
        asked = self.keep((yield get("/captcha/challenge", self.cookies)))
        payload = solved(asked.body)
        self.keep((yield post("/captcha", self.cookies, csrf_token=self.token, payload=payload)))
        address = f"/terms/{self.term}/room"
        self.keep((yield post(address, self.cookies, csrf_token=self.token)))

    def rush(self, opening: float) -> Script:
        """From the opening on: until called, then in, and for the seats."""
        due, turn = opening, False
        address = f"/live/room?term={self.term}&room={self.window}"
        while not turn:
            yield due
            stands = json.loads(self.keep((yield self.noted(get(address, self.cookies), due))).body)
            turn = bool(stands["signal"]) and stands["signal"]["name"] != "room"
            due = time.perf_counter() + stands["poll"]
        stage = f"/terms/{self.term}/stage?shown={quote('before')}"
        self.keep((yield self.noted(get(stage, self.cookies, target="banner"))))
        for section in self.wanted:
            address = f"/terms/{self.term}/sections/{section}/pick"
            form = self.keep((yield self.noted(get(address, self.cookies, target="dialog"))))
            filled = {name.decode(): value.decode() for name, value in FIELD.findall(form.body)}
            filled |= {"csrf_token": self.token, "wait": "1"}
            claimed = self.keep((yield self.noted(post(address, self.cookies, **filled))))
            self.claims[section] = claimed

    def noted(self, request: bytes, due: float = 0.0) -> bytes:
        """The request, and kept when it is due, which is now where nothing else is said."""
        self.asked.append(due or time.perf_counter())
        return request


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """The rush, what was recorded of it, and the hellos."""
    count, here = (20 if quick else 8000), site(quick=quick)
    with (
        portal_on_trial.a_rush(count, SECTIONS, seats=SEATS, minutes=60) as term,
        here.web("rush", FAIRSEAT_CAPTCHA_COST="1000") as port,
    ):
        students = everyone(here.app, term, count)
        came = load.play(port, arrivals(students))
        opening = open_soon(term)
        rushed = load.play(port, [patient(each.rush(opening)) for each in students])
        told = {(each.account, section) for each in students for section in each.claims}
        oversold, unrecorded = recorded(term, told)
    with here.hello() as port:
        bare = load.play(port, [echo(each, opening) for each in students])
    well = sum(came.statuses[each] + rushed.statuses[each] for each in WELL)
    claimed = [each.took for student in students for each in student.claims.values()]
    return {
        "rush_answered": well / (came.statuses.total() + rushed.statuses.total()),
        "rush_claimed": len(told) / (count * CLAIMS),
        "rush_oversold": oversold,
        "rush_unrecorded": unrecorded,
        "rush_p99_vs_hello": rushed.p99 / bare.p99,
        "rush_p99_ms": rushed.p99,
        "rush_claim_p99_ms": load.p99(claimed),
        "rush_seconds": rushed.seconds - SOON,
        "rush_generator": rushed.cpu,
    }


def everyone(app: object, term: int, count: int) -> list[Student]:
    """All of them, with a session each."""
    chance, sections = random.Random(term), sorted(backend().ledger.seats(term))
    found = []
    for browser in portal_on_trial.browsers(app, term, count):
        jar = dict([browser.cookies.split("=", 1)])
        wanted = chance.sample(sections, CLAIMS)
        held = browser.held
        found.append(Student(held.account, term, held.window, wanted, browser.token, jar))
    return found


def arrivals(students: list[Student]) -> Iterable[Script]:
    """Into the lobby, one after another."""
    began = time.perf_counter()
    at = (began + number / ARRIVALS for number in range(len(students)))
    return [patient(each.arrive(next(at))) for each in students]


def patient(script: Script) -> Script:
    """The script, up to the first answer that is not as it should be."""
    with suppress(Unwell):
        yield from script


def open_soon(term: int) -> float:
    """Have the window open in a moment, and the room let so many in a minute; gives when."""
    [window] = backend().ledger.windows(term)
    room.set_limits(term, window.id, A_MINUTE, 10 * A_MINUTE, off=False)
    opening = time.perf_counter() + SOON
    opens = backend().ledger.now() + int(SOON * 1000)
    backend().ledger.move_window(term, window.id, opens, opens + HOUR, "bench")
    return opening


def solved(challenge: bytes) -> str:
    """What a browser sends for a puzzle."""
    puzzle = Challenge.from_dict(json.loads(challenge))
    return Payload(puzzle, solve_challenge(puzzle)).to_base64()


def echo(student: Student, opening: float) -> Script:
    """A hello at each moment at which something of the student was due."""
    began = time.perf_counter() + SOON
    for at in student.asked:
        yield began + at - opening
        yield HELLO


def recorded(term: int, told: set[tuple[int, int]]) -> tuple[float, float]:
    """Seats beyond capacities, and claims that PostgreSQL does not know of once all is drained.

    Told is who was given a seat or a place in line, by account and section.
    """
    found = audit_term(term)
    with transaction() as db:
        oversold = db.scalar(text(OVERSOLD), {"term": term})
        known = {
            (row.account_id, row.section_id) for row in db.execute(text(KNOWN), {"term": term})
        }
    if found["differences"]:
        raise SystemExit(f"The audit is not clean: {found['differences']}")
    return float(oversold or 0), float(max(found["unrecorded"], len(told - known)))
