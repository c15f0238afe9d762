"""Visitors who apply with a document, pay a fee and send it during a rush, and what came of it."""

import base64
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import Any

import requests
from sqlalchemy import select

from portal.applications.models import Application
from portal.core.db import transaction
from tests.applications.files import a_pdf
from tests.applications.stories import ANSWERS
from tests.faults.client import BALANCER, TIMEOUT, TOKEN, Student

PAUSE = 0.3  # seconds before a request is sent again, and between applicants
FIRST_CRN = "1000"  # of the trial's sections
PATIENCE = 120.0  # seconds after the rush, for applicants who are not done
AWAY = {*BALANCER, 429}


@dataclass
class Applicant:
    """Someone who applies once; `number` is their application, `sent` whether it was accepted."""

    visitor: Student
    number: int = 0
    sent: bool = False
    paid: bool = False
    odd: list[str] = field(default_factory=list)

    def apply(self, term: int, over: Event) -> None:
        """Do every step; each request is repeated until it is answered."""
        content = base64.b64encode(a_pdf(text=secrets.token_bytes(9))).decode()
        document = {"part": "transcript", "name": "grades.pdf", "content": content}
        answers = ANSWERS["visiting"] | {"courses": FIRST_CRN}
        begun = {"semester_id": term, "kind": "visiting", "answers": answers}
        made = self._post(over, "", begun)
        if made is None:
            return
        self.number = made["data"]["id"]
        at, key = f"/{self.number}", {"Idempotency-Key": secrets.token_hex(8)}
        added = self._post(over, f"{at}/documents", document) is not None
        self.paid = added and self._pay(over, term)
        if self.paid and self._post(over, f"{at}/submit", {}, key) is not None:
            self.sent = True
            self._post(
                over, f"{at}/submit", {}, key
            )  # once more, as a program that lost the answer

    def _post(self, over: Event, path: str, body: Any, headers: Any = None) -> Any:
        """Return the answer to a request; None if the rush ended before there was one."""
        address = f"{self.visitor.address}/api/v1/applications{path}"
        answer = self._until(
            over,
            lambda: self.visitor.http.post(address, json=body, headers=headers, timeout=TIMEOUT),
        )
        return answer and answer.json()

    def _pay(self, over: Event, term: int) -> bool:
        """Pay the fee on the pages of the test provider; return whether it is paid."""
        page = f"{self.visitor.address}/terms/{term}/applications/{self.number}/fee"
        while not over.is_set():
            with suppress(requests.RequestException, IndexError):
                if self._is_paid():
                    return True
                fee = self.visitor.http.get(page, timeout=TIMEOUT)
                checkout = self._press(page, fee.text)
                if "/payments/test/" in checkout.url:
                    self._press(checkout.url, checkout.text, outcome="paid")
            over.wait(PAUSE)
        return False

    def _press(self, address: str, page: str, **choice: str) -> requests.Response:
        """Send the form of a page."""
        token = {"csrf_token": TOKEN.findall(page)[-1]}
        return self.visitor.http.post(address, token | choice, timeout=TIMEOUT)

    def _is_paid(self) -> bool:
        address = f"{self.visitor.address}/api/v1/applications/{self.number}"
        answer = self.visitor.http.get(address, timeout=TIMEOUT)
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
    """Applicants of a rush, one after the other."""

    term: int
    visitors: Sequence[Student]
    found: list[Applicant] = field(default_factory=list)
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

    def _run(self) -> None:
        for visitor in self.visitors:
            if self.over.is_set():
                return
            applicant = Applicant(visitor)
            self.found.append(applicant)
            applicant.apply(self.term, self.over)
            self.over.wait(PAUSE)

    def checked(self) -> bool:
        """Return whether the documents of all applications that were sent are checked."""
        return all(
            each.state == "ok" for found in _stored(self.found).values() for each in found.documents
        )

    def lost(self) -> Iterator[str]:
        """Yield what the portal has accepted and does not have."""
        stored = _stored(self.found)
        for each in self.found:
            found = stored.get(each.number)
            if each.number and found is None:
                yield f"application {each.number} is gone"
            elif each.sent and found and found.state != "review":
                yield f"application {each.number} was sent and is {found.state}"
            if each.paid and found and "paid" not in {one.state for one in found.charges}:
                yield f"application {each.number} was paid"

    def odd(self) -> Iterator[str]:
        """Yield each wrong answer and each applicant without an answer."""
        for each in self.found:
            yield from each.odd
            if not each.sent:
                yield f"application {each.number} could not be sent"

    def twice(self) -> Iterator[str]:
        """Yield what an application has more than once."""
        for found in _stored(self.found).values():
            actions = [entry.action for entry in found.entries]
            paid = [charge for charge in found.charges if charge.state == "paid"]
            if len(found.documents) > 1 or len(paid) > 1 or actions.count("submit") > 1:
                yield f"application {found.id}: {len(found.documents)} documents, {actions}"


def _stored(found: Sequence[Applicant]) -> dict[int, Application]:
    numbers = [each.number for each in found if each.number]
    with transaction() as session:
        rows = session.scalars(select(Application).where(Application.id.in_(numbers))).all()
        for row in rows:  # read while the session is open
            assert row.documents is not None
            assert row.charges is not None
            assert row.entries is not None
        return {row.id: row for row in rows}
