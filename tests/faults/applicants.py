"""People who apply during a rush: visiting students with document and fee, and late adds."""

import base64
import secrets
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from threading import Event, Thread
from typing import Any
from zipfile import ZipFile

import requests

from tests.applications.files import a_pdf
from tests.applications.stories import ANSWERS
from tests.applications.stripe_api import Account
from tests.faults.client import BALANCER, TIMEOUT, TOKEN, Student

PAUSE = 0.3  # seconds before a request is sent again, and between students who apply
BETWEEN = 0.6  # seconds between visitors, who apply at the same time
PAY_AGAIN = 3.0  # seconds before someone presses "Pay now" again; the page says that it waits
FIRST_CRN = "1000"  # of the trial's sections
PATIENCE = 300.0  # seconds after the fault, for applicants and deciders who are not done
AWAY = {*BALANCER, 429}


@dataclass
class Applicant:
    """Someone who applies once: for a seat in `section` after the window, else as a visitor.

    `number` is their application, `sent` whether it was accepted. A visitor pays the fee at
    `provider` and sends a `document`; `kept` is whether the portal has it as it was sent. They
    apply from `begun` to `done` (moments of this machine). `repeated` counts the requests that
    were sent again because their answer was unknown or asked for it.
    """

    person: Student
    section: int | None = None
    number: int = 0
    sent: bool = False
    provider: Account | None = None
    document: bytes = field(default_factory=lambda: a_pdf(text=secrets.token_bytes(9)))
    kept: bool = False
    begun: float = 0.0
    done: float = 0.0
    repeated: int = 0
    odd: list[str] = field(default_factory=list)

    @property
    def kind(self) -> str:
        """Return the kind of application."""
        return "late_add" if self.section else "visiting"

    def apply(self, term: int, over: Event) -> None:
        """Do every step; each request is repeated until it is answered. No error gets lost."""
        self.begun = time.time()
        try:
            self._apply(term, over)
        except Exception as error:  # noqa: BLE001  this thread ends: the verdict must have it
            self.odd.append(f"application {self.number}: {error!r}")
        self.done = time.time()

    def download(self, term: int) -> None:
        """Look for the document in what the portal has of the application."""
        page = f"{self.person.address}/terms/{term}/applications/{self.number}/copy.zip"
        answer = self.person.http.get(page, timeout=60)
        if answer.ok:
            with ZipFile(BytesIO(answer.content)) as copy:
                self.kept = any(copy.read(name) == self.document for name in copy.namelist())

    def _apply(self, term: int, over: Event) -> None:
        answers = dict(ANSWERS[self.kind]) | ({} if self.section else {"courses": FIRST_CRN})
        begun = {"semester_id": term, "kind": self.kind, "answers": answers}
        made = self._post(over, "", begun | ({"section_id": self.section} if self.section else {}))
        if made is None:
            return
        self.number = made["data"]["id"]
        if not self.section and not self._add_document_and_pay(term, over):
            return
        address, key = f"/{self.number}/submit", {"Idempotency-Key": secrets.token_hex(8)}
        if first := self._post(over, address, {}, key):
            self.sent = True
            # Again, as a program that lost the answer.
            again = self._post(over, address, {}, key) or first
            numbers = [each["data"]["id"] for each in (first, again)]
            if set(numbers) != {self.number}:
                self.odd.append(
                    f"application {self.number}: submitted as {numbers[0]}, then as {numbers[1]}"
                )

    def _add_document_and_pay(self, term: int, over: Event) -> bool:
        content = base64.b64encode(self.document).decode()
        document = {"part": "transcript", "name": "grades.pdf", "content": content}
        added = self._post(over, f"/{self.number}/documents", document) is not None
        return added and self._pay(over, term)

    def _post(self, over: Event, path: str, body: Any, headers: Any = None) -> Any:
        """Return the answer to a request; None if the rush ended before there was one."""
        address = f"{self.person.address}/api/v1/applications{path}"
        return self._until(
            over,
            lambda: self.person.http.post(address, json=body, headers=headers, timeout=TIMEOUT),
            requests.Response.json,
        )

    def _pay(self, over: Event, term: int) -> bool:
        """Pay the fee on the provider's page; return whether the portal says that it is paid."""
        page = f"{self.person.address}/terms/{term}/applications/{self.number}/fee"
        while not over.is_set():
            with suppress(requests.RequestException, IndexError):
                if self._is_paid():
                    return True
                fee = self.person.http.get(page, timeout=TIMEOUT)
                token = {"csrf_token": TOKEN.findall(fee.text)[-1]}
                checkout = self.person.http.post(page, token, timeout=TIMEOUT)
                if self.provider and checkout.url.startswith(self.provider.pages):
                    self._confirm(over, self.provider, checkout.url)
                    continue
            over.wait(PAY_AGAIN)
        return False

    def _confirm(self, over: Event, provider: Account, checkout: str) -> None:
        """Pay and come back; the provider tells the portal too, until it is answered, and again."""
        with suppress(requests.RequestException):
            self.person.http.post(checkout, timeout=TIMEOUT)
        reference = checkout.rpartition("/")[2]
        number = int(reference.rpartition("_")[2])
        body, signature = provider.message("completed", reference, number)
        address, signed = f"{self.person.address}/payments/stripe", {"Stripe-Signature": signature}
        for _each in range(2):
            self._until(over, lambda: requests.post(address, body, headers=signed, timeout=TIMEOUT))

    def _is_paid(self) -> bool:
        address = f"{self.person.address}/api/v1/applications/{self.number}"
        answer = self.person.http.get(address, timeout=TIMEOUT)
        return answer.ok and answer.json()["data"]["fee"]["status"] == "paid"

    def _until(
        self,
        over: Event,
        ask: Callable[[], requests.Response],
        read: Callable[[requests.Response], Any] = lambda answer: answer,
    ) -> Any:
        """Return the answer, read; an answer that can't be read is unknown, so ask again."""
        while not over.is_set():
            with suppress(requests.RequestException):
                answer = ask()
                if answer.ok:
                    return read(answer)
                if answer.status_code not in AWAY:
                    self.odd.append(
                        f"application {self.number}: {answer.status_code} {answer.text[:200]}"
                    )
                    return None
            self.repeated += 1
            over.wait(PAUSE)
        return None


@dataclass
class Applicants:
    """Applicants of a rush: students one after the other, then visitors at the same time.

    `begun` are those who have begun.
    """

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
        with ThreadPoolExecutor(len(self.people)) as visits:
            for applicant in self.people:
                if self.over.is_set():
                    return
                self.begun.append(applicant)
                if applicant.section:
                    applicant.apply(self.term, self.over)
                    self.over.wait(PAUSE)
                else:
                    visits.submit(applicant.apply, self.term, self.over)
                    self.over.wait(BETWEEN)
