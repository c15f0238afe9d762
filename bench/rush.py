"""An opening: 8,000 students at one instant, 300 sections of 30 seats, three claims each.

All students are logged in, solve the captcha and join the queue while the lobby counts down. At
the opening all ask for their queue position at one instant, each on a connection of their own.
They ask again when the answer tells them to, enter when they are admitted, and open and send the
forms of three sections as fast as they get answers. The waiting room admits 4,000 a minute.
In the end everything must be recorded. The captcha is easier than usual, because this machine
solves it for all browsers; nothing else is simplified.

Later a few more students do the same, ten a second. They show how long a claim takes while no one
else asks.

Then the bare hello gets requests at the same times from the opening on, when each request was due,
over as many connections. `rush_answered` counts every request of the students, including those
before the opening and those that were never answered. A student who gets a wrong answer stops.
Therefore `rush_claimed` counts all claims that the students would have sent.
"""

import json
import random
import re
import time
from collections import Counter
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
ARRIVALS = 150  # students a second who come to the lobby
LATE, AT_LEISURE = 50, 10  # students who come after the rush, and how many of them a second
HOUR = 3_600_000  # ms
WELL = {200, 204}
SOON = 2.0  # seconds from the last arrival to the opening
FIELD = re.compile(rb'name="(request)" value="(\w+)"')
COOKIE = re.compile(rb"^Set-Cookie: ([^=]+)=([^;]*)", re.MULTILINE | re.IGNORECASE)
FIGURES = {
    "rush_answered": ("share", "correct answers to all requests of 8,000 students"),
    "rush_claimed": ("share", "correct answers to the three claims of each student"),
    "rush_oversold": ("seats", "seats beyond the capacity of a section"),
    "rush_unrecorded": ("claims", "claims with a seat or waitlist position missing in PostgreSQL"),
    "rush_p99_vs_hello": ("ratio", "99th percentile of the response time over that of hellos"),
    "rush_p99_ms": ("ms", "99th percentile of the response time, from the opening on"),
    "rush_claim_p99_ms": ("ms", "99th percentile of the response time of claims"),
    "rush_leisure_p99_ms": ("ms", "the same at leisure, after the rush"),
    "rush_claim_vs_leisure": ("ratio", "that of the rush over that at leisure"),
    "rush_seconds": ("s", "from the opening until everyone has claimed"),
    "rush_generator": ("cores", "load of the generator on the same machine"),
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


class Unwell(Exception):
    """Raised by a wrong answer; the student who got it stops."""


@dataclass
class Student:
    """A student with a browser and its cookies.

    `asked_at` are the times at which requests were due from the opening on; `claims` are the
    answers to claims, by section.
    """

    account: int
    term: int
    window: int
    wanted: list[int]
    token: str
    jar: dict[str, str]
    asked_at: list[float] = field(default_factory=list)
    claims: dict[int, Answer] = field(default_factory=dict)

    @property
    def cookies(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.jar.items())

    def keep(self, answer: Answer | None) -> Answer:
        """Store the answer's cookies and return it; raise Unwell if it is a wrong answer."""
        assert answer
        if answer.status not in WELL:
            raise Unwell
        self.jar |= {name.decode(): value.decode() for name, value in COOKIE.findall(answer.head)}
        return answer

    def arrive(self, at: float) -> Script:
        """Come to the lobby: solve the captcha and join the queue."""
        yield at
        challenge = self.keep((yield get("/captcha/challenge", self.cookies)))
        payload = solved(challenge.body)
        self.keep((yield post("/captcha", self.cookies, csrf_token=self.token, payload=payload)))
        address = f"/terms/{self.term}/room"
        self.keep((yield post(address, self.cookies, csrf_token=self.token)))

    def rush(self, opening: float) -> Script:
        """From the opening on: poll until admitted, then enter and claim."""
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
        """Note the time at which a request is due, by default now; return the request."""
        self.asked_at.append(due or time.perf_counter())
        return request


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Measure the rush, check what was recorded, and measure the hellos."""
    (count, later), here = ((20, 5) if quick else (8000, LATE)), site(quick=quick)
    with (
        portal_on_trial.a_rush(count + later, SECTIONS, seats=SEATS, minutes=60) as term,
        here.web() as port,
    ):
        students = everyone(here.app, term, count + later)
        late = [students.pop() for _ in range(later)]
        came = load.play(port, arrivals(students))
        opening = open_soon(term)
        rushed = load.play(port, [patient(each.rush(opening)) for each in students])
        leisure = at_leisure(port, late)
        known = [*students, *late]
        answered = {(each.account, section) for each in known for section in each.claims}
        oversold, unrecorded = recorded(term, answered)
    with here.hello() as port:
        bare = load.play(port, [echo(each, opening) for each in students])
    statuses = came.statuses + rushed.statuses + leisure
    claim_p99, late_p99 = claims_p99(students), claims_p99(late)
    return {
        "rush_answered": sum(statuses[each] for each in WELL) / statuses.total(),
        "rush_claimed": len(answered) / (len(known) * CLAIMS),
        "rush_oversold": oversold,
        "rush_unrecorded": unrecorded,
        "rush_p99_vs_hello": rushed.p99 / bare.p99,
        "rush_p99_ms": rushed.p99,
        "rush_claim_p99_ms": claim_p99,
        "rush_leisure_p99_ms": late_p99,
        "rush_claim_vs_leisure": claim_p99 / late_p99,
        "rush_seconds": rushed.seconds - SOON,
        "rush_generator": rushed.cpu,
    }


def everyone(app: object, term: int, count: int) -> list[Student]:
    """Return all students, each with a session."""
    chance, sections = random.Random(term), sorted(backend().ledger.seats(term))
    found = []
    for browser in portal_on_trial.browsers(app, term, count):
        jar = dict([browser.cookies.split("=", 1)])
        wanted = chance.sample(sections, CLAIMS)
        held = browser.held
        found.append(Student(held.account, term, held.window, wanted, browser.token, jar))
    return found


def at_leisure(port: int, late: list[Student]) -> Counter[int]:
    """Let a few students come and claim one after the other; return the number of each status."""
    came = load.play(port, arrivals(late))
    began = time.perf_counter()
    scripts = [patient(each.rush(began + at / AT_LEISURE)) for at, each in enumerate(late)]
    return came.statuses + load.play(port, scripts).statuses


def claims_p99(students: list[Student]) -> float:
    """Return the 99th percentile of the response time of these students' claims (ms)."""
    return load.p99([each.took for student in students for each in student.claims.values()])


def arrivals(students: list[Student]) -> Iterable[Script]:
    """Return scripts in which the students come to the lobby one after another."""
    began = time.perf_counter()
    at = (began + number / ARRIVALS for number in range(len(students)))
    return [patient(each.arrive(next(at))) for each in students]


def patient(script: Script) -> Script:
    """Run the script up to the first wrong answer."""
    with suppress(Unwell):
        yield from script


def open_soon(term: int) -> float:
    """Let the window open in SOON seconds and admit A_MINUTE; return the time of the opening."""
    [window] = backend().ledger.windows(term)
    room.set_limits(term, window.id, A_MINUTE, 10 * A_MINUTE, off=False)
    opening = time.perf_counter() + SOON
    opens = backend().ledger.now() + int(SOON * 1000)
    backend().ledger.move_window(term, window.id, opens, opens + HOUR, "bench")
    return opening


def solved(challenge: bytes) -> str:
    """Return what a browser sends for a captcha challenge."""
    puzzle = Challenge.from_dict(json.loads(challenge))
    return Payload(puzzle, solve_challenge(puzzle)).to_base64()


def echo(student: Student, opening: float) -> Script:
    """Send a hello at each time at which a request of the student was due."""
    began = time.perf_counter() + SOON
    for at in student.asked_at:
        yield began + at - opening
        yield HELLO


def recorded(term: int, answered: set[tuple[int, int]]) -> tuple[float, float]:
    """Return the number of oversold seats, and of claims missing in PostgreSQL.

    `answered` has the account and section of each student who got a seat or waitlist position.
    """
    found = audit_term(term)
    with transaction() as db:
        oversold = db.scalar(text(OVERSOLD), {"term": term})
        known = {
            (row.account_id, row.section_id) for row in db.execute(text(KNOWN), {"term": term})
        }
    if found["differences"]:
        raise SystemExit(f"The audit is not clean: {found['differences']}")
    return float(oversold or 0), float(max(found["unrecorded"], len(answered - known)))
