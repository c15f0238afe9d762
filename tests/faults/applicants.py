"""People who apply during a rush: visiting students with document and fee, and late adds."""

import base64
import secrets
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import requests

from tests.applications.files import a_pdf
from tests.applications.stories import ANSWERS
from tests.faults.client import BALANCER, TIMEOUT, TOKEN, Student

PAUSE = 0.3  # seconds before a request is sent again, and between applicants
FIRST_CRN = "1000"  # of the trial's sections
PATIENCE = 300.0  # seconds after the fault, for applicants and deciders who are not done
AWAY = {*BALANCER, 429}


@dataclass
class Applicant:
    """Someone who applies once: for a seat in `section` after the window, else as a visitor.

    `number` is their application, `sent` whether it was accepted.
    """

    person: Student
    section: int | None = None
    number: int = 0
    sent: bool = False
    paid: bool = False
    odd: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Return the kind of application."""
        return "late_add" if self.section else "visiting"

    def apply(self, term: int, over: Event) -> None:
        """Do every step; each request is repeated until it is answered."""
        answers = dict(ANSWERS[self.kind]) | ({} if self.section else {"courses": FIRST_CRN})
        begun = {"semester_id": term, "kind": self.kind, "answers": answers}
        made = self._post(over, "", begun | ({"section_id": self.section} if self.section else {}))
        if made is None:
            return
        self.number = made["data"]["id"]
        if not self.section and not self._add_document_and_pay(term, over):
            return
        address, key = f"/{self.number}/submit", {"Idempotency-Key": secrets.token_hex(8)}
        if self._post(over, address, {}, key) is not None:
            self.sent = True
            self._post(over, address, {}, key)  # again, as a program that lost the answer

    def _add_document_and_pay(self, term: int, over: Event) -> bool:
        content = base64.b64encode(a_pdf(text=secrets.token_bytes(9))).decode()
        document = {"part": "transcript", "name": "grades.pdf", "content": content}
        added = self._post(over, f"/{self.number}/documents", document) is not None
        self.paid = added and self._pay(over, term)
        return self.paid

    def _post(self, over: Event, path: str, body: Any, headers: Any = None) -> Any:
        """Return the answer to a request; None if the rush ended before there was one."""
        address = f"{self.person.address}/api/v1/applications{path}"
        answer = self._until(
            over,
            lambda: self.person.http.post(address, json=body, headers=headers, timeout=TIMEOUT),
        )
        return answer and answer.json()

    def _pay(self, over: Event, term: int) -> bool:
        """Pay the fee on the pages of the test provider; return whether it is paid."""
        page = f"{self.person.address}/terms/{term}/applications/{self.number}/fee"
        while not over.is_set():
            with suppress(requests.RequestException, IndexError):
                if self._is_paid():
                    return True
                fee = self.person.http.get(page, timeout=TIMEOUT)
                checkout = self._press(page, fee.text)
                if "/payments/test/" in checkout.url:
                    self._press(checkout.url, checkout.text, outcome="paid")
            over.wait(PAUSE)
        return False

    def _press(self, address: str, page: str, **choice: str) -> requests.Response:
        """Send the form of a page."""
        token = {"csrf_token": TOKEN.findall(page)[-1]}
        return self.person.http.post(address, token | choice, timeout=TIMEOUT)

    def _is_paid(self) -> bool:
        address = f"{self.person.address}/api/v1/applications/{self.number}"
        answer = self.person.http.get(address, timeout=TIMEOUT)
        return answer.ok and answer.json()["data"]["fee"]["status"] == "paid"

    def _until(self, over: Event, ask: Callable[[], requests.Response]) -> requests.Response | None:
        while not over.is_set():
            try:
                answer = ask()
            except requests.RequestException:
                over.wait(PAUSE)
                continue
            if answer.ok:
                return answer
            if answer.status_code not in AWAY:
                self.odd.append(
                    f"application {self.number}: {answer.status_code} {answer.text[:200]}"
                )
                return None
            over.wait(PAUSE)
        return None


@dataclass
class Applicants:
    """Applicants of a rush, one after the other; `begun` are those who have begun."""

    term: int
    people: Sequence[Applicant]
    begun: list[Applicant] = field(default_factory=list)
    over: Event = field(default_factory=Event)
    thread: Thread | None = None

    def begin(self) -> None:
        """Let them apply."""
        self.thread = Thread(target=self._run)
        self.thread.start()

    def end(self) -> None:
        """Let everyone apply; after a while, give up."""
        if self.thread:
            self.thread.join(PATIENCE)
            self.over.set()
            self.thread.join()

    def late_adds_are_sent(self) -> bool:
        """Return whether all late adds wait for a decision."""
        return all(each.sent for each in self.people if each.section)

    def _run(self) -> None:
        for applicant in self.people:
            if self.over.is_set():
                return
            self.begun.append(applicant)
            applicant.apply(self.term, self.over)
            self.over.wait(PAUSE)
