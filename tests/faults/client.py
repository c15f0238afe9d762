"""Students over HTTP, logged in as in a browser: they repeat a request until it is answered."""

import random
import re
import secrets
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import requests

from tests.cast import PASSWORD
from tests.faults.history import AWAY, DECIDED, UNKNOWN, WRONG, Request, Try

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
TIMEOUT = 6.0  # seconds for one answer
IMPATIENT = 0.004  # seconds after which a student now and then gives up and asks again
PAUSE = 0.06
RENEWED = 120.0
BALANCER = {502, 503, 504}  # what it says by itself, not as JSON, when a node is gone


@dataclass
class Student:
    """A student who is logged in."""

    address: str
    name: str
    http: requests.Session = field(default_factory=requests.Session)
    number: int = 0
    window: int = 0
    entered: float = 0.0

    def log_in(self) -> None:
        """Log in with the form."""
        page = self.http.get(f"{self.address}/login", timeout=60).text
        [token, *_] = TOKEN.findall(page)
        form = {"username": self.name, "password": PASSWORD, "csrf_token": token}
        self.http.post(f"{self.address}/login", form, timeout=60).raise_for_status()
        me = self.http.get(f"{self.address}/api/v1/me", timeout=60).json()
        self.number = me["student_id"]
        self.http.headers["X-CSRFToken"] = me["csrf_token"]

    def enter(self, window: int) -> bool:
        """Ask in the waiting room to be admitted; every claim then carries the access token."""
        self.window = window
        room = f"{self.address}/api/v1/waiting-room/{window}/requests"
        answer = self.http.post(room, json={}, timeout=60)
        held = answer.json()["data"]["access_token"] if answer.ok else None
        if held:
            self.http.headers["Fairseat-Pass"], self.entered = held, time.time()
        return bool(held)

    def stay(self) -> None:
        """Renew the access token long before it ends, as pages do."""
        if time.time() - self.entered > RENEWED:
            with suppress(requests.RequestException):
                self.enter(self.window)

    def send(self, term: int, request: Request, timeout: float) -> tuple[Try, dict[str, Any]]:
        """Send a request once; return the attempt, and the decision if there is one."""
        one = Try(time.time())
        request.tries.append(one)
        path = "/register" if request.act == "register" else f"/register/{request.act}"
        try:
            answer = self.http.post(
                f"{self.address}/api/v1{path}",
                json=_body(self.number, term, request),
                headers={"Idempotency-Key": request.key},
                timeout=timeout,
            )
        except requests.RequestException as error:
            one.answered, one.what = time.time(), type(error).__name__
            return one, {}
        body = answer.json() if "json" in answer.headers["Content-Type"] else {}
        one.answered, one.what = time.time(), f"{answer.status_code} {body.get('type', '')}"
        one.said = _said(answer.status_code, body, answer.headers)
        return one, body.get("data", {}) if one.said == DECIDED else {}


def _body(student: int, term: int, request: Request) -> dict[str, Any]:
    about = {"student_id": student, "semester_id": term}
    if request.act != "register":
        return about | {"section_id": request.section}
    swap = {"instead_of": request.instead} if request.instead else {}
    return about | {"section_ids": [{"section_id": request.section, **swap}], "wait": True}


def _said(status: int, body: dict[str, Any], headers: Mapping[str, str]) -> str:
    """Return what kind of answer it is (see Try)."""
    if status == 200 or (status == 409 and "data" in body):
        return DECIDED
    kind = body.get("type", "")
    if status == 503 and body and "Retry-After" in headers:
        return UNKNOWN if kind.endswith("silent") else AWAY
    if status == 503 and body:
        return WRONG
    return UNKNOWN if status in BALANCER else WRONG


@dataclass
class Rush:
    """Students who claim, wait, drop, leave and swap until the rush ends.

    `wanted` is a section whose seats are given by applications alone.
    """

    term: int
    sections: list[int]
    students: list[Student]
    wanted: int = 0
    requests: list[Request] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    given_up: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)

    def begin(self) -> None:
        """Let them begin."""
        self.threads = [Thread(target=self._be, args=(each,)) for each in self.students]
        for thread in self.threads:
            thread.start()

    def end(self, timeout: float = 60.0) -> None:
        """Wait until every student has an answer to the last request; after a while, give up."""
        self.ended.set()
        for thread in self.threads:
            thread.join(timeout)
        self.given_up.set()
        for thread in self.threads:
            thread.join()

    def decided(self, since: float) -> set[int]:
        """Return the students with a decided request that was sent after `since`."""
        found = [
            request for request in list(self.requests) if request.answered and request.sent > since
        ]
        return {request.student for request in found}

    def _be(self, student: Student) -> None:
        chance = random.Random(f"{self.term} {student.number}")
        mine: dict[int, str] = {}
        while not self.ended.is_set():
            student.stay()
            request = _next(chance, student.number, self.sections, mine)
            self.requests.append(request)
            self._ask(student, request, chance)
            _learn(mine, request)
            self.ended.wait(PAUSE * chance.random() * 2)

    def _ask(self, student: Student, request: Request, chance: random.Random) -> None:
        timeout = IMPATIENT if chance.random() < 0.02 else TIMEOUT
        while not self.given_up.is_set():
            one, decision = student.send(self.term, request, timeout)
            timeout = TIMEOUT
            if one.said == DECIDED:
                request.receipt, request.outcome = _result(request, decision)
                break
            if one.said == WRONG:
                break
            self.given_up.wait(0.2)
        changed = request.outcome in {"enrolled", "dropped", "left"}
        if changed and chance.random() < 0.1:
            again = Request(
                request.student, request.act, request.section, request.key, request.instead
            )
            one, decision = student.send(self.term, again, TIMEOUT)
            if one.said == DECIDED:
                receipt, outcome = _result(request, decision)
                request.repeated.append(f"{outcome} {receipt}")


def _next(
    chance: random.Random, student: int, sections: list[int], mine: dict[int, str]
) -> Request:
    section, key = chance.choice(sections), secrets.token_hex(8)
    has = mine.get(section)
    if has == "enrolled":
        return Request(student, "drop", section, key)
    if has == "waitlisted":  # or has been promoted meanwhile
        return Request(student, chance.choice(["leave", "drop"]), section, key)
    seats = [each for each, what in mine.items() if what == "enrolled"]
    instead = chance.choice(seats) if seats and chance.random() < 0.2 else 0
    return Request(student, "register", section, key, instead)


def _result(request: Request, decision: dict[str, Any]) -> tuple[str, str]:
    """Return the receipt and the outcome."""
    if request.act == "register":
        [result] = decision["results"]
        return result["receipt"] or "", result["status"]
    granted = {"drop": "dropped", "leave": "left"}[request.act]
    return decision["receipt"], "refused" if decision["reasons"] else granted


def _learn(mine: dict[int, str], request: Request) -> None:
    if request.outcome in {"enrolled", "waitlisted"}:
        mine[request.section] = request.outcome
        if request.outcome == "enrolled":
            mine.pop(request.instead, None)
    elif request.outcome == "already_registered":
        mine[request.section] = "enrolled"
    elif request.act != "register":
        mine.pop(request.section, None)
