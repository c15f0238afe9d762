"""Admins who approve every application of a rush, and repeat a press that is not answered."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event, Thread

import requests

from tests.faults.applicants import AWAY, PATIENCE, PAUSE, Applicant
from tests.faults.client import TIMEOUT, TOKEN, Student

VERSION = re.compile(r'name="version" value="(\d+)"')
NOTE = "Approved during a rush."


@dataclass
class Deciders:
    """Two admins, since each stage needs another person, who decide at the same time.

    `interrupted` has an application for each press of "Approve" whose answer never came.
    """

    admins: Sequence[Student]
    applicants: Sequence[Applicant]  # it grows while they apply
    decided: set[int] = field(default_factory=set)
    interrupted: list[int] = field(default_factory=list)
    odd: list[str] = field(default_factory=list)
    pressed: Event = field(default_factory=Event)
    applied: Event = field(default_factory=Event)  # no one else applies
    over: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)

    def begin(self) -> None:
        """Let them decide."""
        self.threads = [
            Thread(target=self._run, args=(admin, way))
            for admin, way in zip(self.admins, (1, -1), strict=True)
        ]
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        """Let them decide what was sent; after a while, give up."""
        self.applied.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        self.over.set()
        for thread in self.threads:
            thread.join()

    def _run(self, admin: Student, way: int) -> None:
        """Let one decide; `way` is 1 for the oldest first, -1 for the newest first."""
        while not self.over.is_set():
            sent = [each.number for each in list(self.applicants) if each.sent]
            undecided = [each for each in sent if each not in self.decided]
            if not undecided and self.applied.is_set():
                return
            for number in undecided[::way]:
                with suppress(requests.RequestException):
                    self._decide(admin, number)
            self.over.wait(PAUSE)

    def _decide(self, admin: Student, number: int) -> None:
        """Press "Approve" if the page still has the button."""
        address = f"{admin.address}/admin/applications/{number}"
        page = admin.http.get(address, timeout=TIMEOUT)
        if not page.ok:
            return self._note(number, page)
        if 'value="approve"' not in page.text:
            self.decided.add(number)
            return None
        form = {
            "csrf_token": TOKEN.findall(page.text)[-1],
            "version": VERSION.findall(page.text)[0],
            "note": NOTE,
            "decision": "approve",
        }
        self.pressed.set()
        try:
            answer = admin.http.post(address, form, timeout=TIMEOUT, allow_redirects=False)
        except requests.RequestException:
            self.interrupted.append(number)
            raise
        if answer.status_code in AWAY:
            self.interrupted.append(number)
        return self._note(number, answer)

    def _note(self, number: int, answer: requests.Response) -> None:
        """Note an answer that is no decision, no refusal for now, and no outage."""
        if answer.status_code not in {*AWAY, 200, 302, 303, 409}:
            self.odd.append(f"decision on {number}: {answer.status_code} {answer.text[:200]}")
