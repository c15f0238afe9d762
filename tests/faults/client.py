"""Students over HTTP, logged in as a browser is: they ask until they are answered."""

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
from tests.faults.history import AWAY, DECIDED, UNKNOWN, WRONG, Deed, Try

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
TIMEOUT = 6.0  # seconds for one answer
IMPATIENT = 0.004  # now and then someone gives up at once, and asks again
PAUSE = 0.06
RENEWED = 120.0
BALANCER = {502, 503, 504}  # what it says by itself, not as JSON, when a node is gone


@dataclass
class Student:
    """One who is logged in, and what they believe to have."""

    address: str
    name: str
    http: requests.Session = field(default_factory=requests.Session)
    number: int = 0
    window: int = 0
    entered: float = 0.0

    def log_in(self) -> None:
        """By the form, as everybody does."""
        form = self.http.get(f"{self.address}/login", timeout=60).text
        [token, *_] = TOKEN.findall(form)
        told = {"username": self.name, "password": PASSWORD, "csrf_token": token}
        self.http.post(f"{self.address}/login", told, timeout=60).raise_for_status()
        me = self.http.get(f"{self.address}/api/v1/me", timeout=60).json()
        self.number = me["student_id"]
        self.http.headers["X-CSRFToken"] = me["csrf_token"]

    def enter(self, window: int) -> bool:
        """Ask in the waiting room whether it is one's turn; the pass goes with every claim then."""
        self.window = window
        room = f"{self.address}/api/v1/waiting-room/{window}/requests"
        answer = self.http.post(room, json={}, timeout=60)
        held = answer.json()["data"]["access_token"] if answer.ok else None
        if held:
            self.http.headers["Fairseat-Pass"], self.entered = held, time.time()
        return bool(held)

    def stay(self) -> None:
        """Have the pass renewed long before it ends, as pages do."""
        if time.time() - self.entered > RENEWED:
            with suppress(requests.RequestException):
                self.enter(self.window)

    def send(self, term: int, deed: Deed, timeout: float) -> tuple[Try, dict[str, Any]]:
        """Ask once; gives what came of it, and the decision if there is one."""
        one = Try(time.time())
        deed.tries.append(one)
        path = "/register" if deed.act == "register" else f"/register/{deed.act}"
        try:
            answer = self.http.post(
                f"{self.address}/api/v1{path}",
                json=_body(self.number, term, deed),
                headers={"Idempotency-Key": deed.key},
                timeout=timeout,
            )
        except requests.RequestException as error:
            one.answered, one.what = time.time(), type(error).__name__
            return one, {}
        told = answer.json() if "json" in answer.headers["Content-Type"] else {}
        one.answered, one.what = time.time(), f"{answer.status_code} {told.get('type', '')}"
        one.said = _said(answer.status_code, told, answer.headers)
        return one, told.get("data", {}) if one.said == DECIDED else {}


def _body(student: int, term: int, deed: Deed) -> dict[str, Any]:
    about = {"student_id": student, "semester_id": term}
    if deed.act != "register":
        return about | {"section_id": deed.section}
    swap = {"instead_of": deed.instead} if deed.instead else {}
    return about | {"section_ids": [{"section_id": deed.section, **swap}], "wait": True}


def _said(status: int, told: dict[str, Any], headers: Mapping[str, str]) -> str:
    """What kind of answer it is (see Try)."""
    if status == 200 or (status == 409 and "data" in told):
        return DECIDED
    kind = told.get("type", "")
    if status == 503 and told and "Retry-After" in headers:
        return UNKNOWN if kind.endswith("silent") else AWAY
    if status == 503 and told:
        return WRONG
    return UNKNOWN if status in BALANCER else WRONG


@dataclass
class Rush:
    """Students who claim, wait, drop, leave and swap until they are told to end.

    `wanted` is a section whose seats are given by applications alone.
    """

    term: int
    sections: list[int]
    students: list[Student]
    wanted: int = 0
    deeds: list[Deed] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    given_up: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)

    def begin(self) -> None:
        """Let them come."""
        self.threads = [Thread(target=self._be, args=(each,)) for each in self.students]
        for thread in self.threads:
            thread.start()

    def end(self, timeout: float = 60.0) -> None:
        """Let everyone have the answer to their last wish, and go."""
        self.ended.set()
        for thread in self.threads:
            thread.join(timeout)
        self.given_up.set()
        for thread in self.threads:
            thread.join()

    def decided(self, since: float) -> set[int]:
        """The students whose wish of later than that is decided."""
        found = [deed for deed in list(self.deeds) if deed.answered and deed.sent > since]
        return {deed.student for deed in found}

    def _be(self, student: Student) -> None:
        chance = random.Random(f"{self.term} {student.number}")
        mine: dict[int, str] = {}
        while not self.ended.is_set():
            student.stay()
            deed = _next(chance, student.number, self.sections, mine)
            self.deeds.append(deed)
            self._ask(student, deed, chance)
            _learn(mine, deed)
            self.ended.wait(PAUSE * chance.random() * 2)

    def _ask(self, student: Student, deed: Deed, chance: random.Random) -> None:
        timeout = IMPATIENT if chance.random() < 0.02 else TIMEOUT
        while not self.given_up.is_set():
            one, decision = student.send(self.term, deed, timeout)
            timeout = TIMEOUT
            if one.said == DECIDED:
                deed.receipt, deed.outcome = _told(deed, decision)
                break
            if one.said == WRONG:
                break
            self.given_up.wait(0.2)
        changed = deed.outcome in {"enrolled", "dropped", "left"}
        if changed and chance.random() < 0.1:
            again = Deed(deed.student, deed.act, deed.section, deed.key, deed.instead)
            one, decision = student.send(self.term, again, TIMEOUT)
            if one.said == DECIDED:
                receipt, outcome = _told(deed, decision)
                deed.repeated.append(f"{outcome} {receipt}")


def _next(chance: random.Random, student: int, sections: list[int], mine: dict[int, str]) -> Deed:
    section, key = chance.choice(sections), secrets.token_hex(8)
    has = mine.get(section)
    if has == "enrolled":
        return Deed(student, "drop", section, key)
    if has == "waitlisted":  # or has come in meanwhile
        return Deed(student, chance.choice(["leave", "drop"]), section, key)
    seats = [each for each, what in mine.items() if what == "enrolled"]
    instead = chance.choice(seats) if seats and chance.random() < 0.2 else 0
    return Deed(student, "register", section, key, instead)


def _told(deed: Deed, decision: dict[str, Any]) -> tuple[str, str]:
    """The receipt and the outcome."""
    if deed.act == "register":
        [result] = decision["results"]
        return result["receipt"] or "", result["status"]
    granted = {"drop": "dropped", "leave": "left"}[deed.act]
    return decision["receipt"], "refused" if decision["reasons"] else granted


def _learn(mine: dict[int, str], deed: Deed) -> None:
    if deed.outcome in {"enrolled", "waitlisted"}:
        mine[deed.section] = deed.outcome
        if deed.outcome == "enrolled":
            mine.pop(deed.instead, None)
    elif deed.outcome == "already_registered":
        mine[deed.section] = "enrolled"
    elif deed.act != "register":
        mine.pop(deed.section, None)
