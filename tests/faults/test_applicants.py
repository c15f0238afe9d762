"""Every error of someone who applies during a rush is counted."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import requests
from requests import PreparedRequest, Response
from requests.adapters import BaseAdapter

from tests.faults.applicants import Applicant, Applicants
from tests.faults.client import Student

MADE = '{"data": {"id": 7}}'


@dataclass
class Portal(BaseAdapter):
    """A portal that gives these answers in order, then the last one again and again."""

    answers: list[Callable[[], Response]]
    asked: list[str] = field(default_factory=list)  # paths with their idempotency keys

    def send(self, request: PreparedRequest, *_options: Any, **_named: Any) -> Response:
        """Answer a request."""
        key = request.headers.get("Idempotency-Key", "")
        self.asked.append(f"{request.path_url.removeprefix('/api/v1/applications')} {key}".strip())
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        return answer()

    def close(self) -> None:
        """Do nothing: no connection is open."""


def says(text: str, status: int = 200) -> Callable[[], Response]:
    def answer() -> Response:
        found = Response()
        found.status_code, found._content = status, text.encode()  # noqa: SLF001  no setter
        return found

    return answer


def breaks(error: Exception) -> Callable[[], Response]:
    def answer() -> Response:
        raise error

    return answer


def applied(portal: Portal, section: int | None = 3) -> Applicant:
    """Return someone who has applied at it."""
    person = Student("http://portal", "ada")
    person.http.mount("http://portal", portal)
    applicant = Applicant(person, section)
    rush = Applicants(1, [applicant])
    rush.begin()
    rush.end()
    return applicant


def test_nothing_is_wrong_if_all_is_answered() -> None:
    portal = Portal([says(MADE)])
    ada = applied(portal)
    assert (ada.sent, ada.odd, ada.repeated) == (True, [], 0)
    made, submitted, again = portal.asked
    assert made == ""
    assert submitted == again
    assert submitted.startswith("/7/submit ")


def test_request_whose_answer_never_came_is_sent_again() -> None:
    cut = requests.exceptions.ChunkedEncodingError("cut")
    portal = Portal([says(MADE), breaks(cut), says("", 502), says('{"data": {"i'), says(MADE)])
    ada = applied(portal)
    assert (ada.sent, ada.odd, ada.repeated) == (True, [], 3)
    assert len(set(portal.asked[1:])) == 1  # under the same key


def test_another_answer_under_the_same_key_is_wrong() -> None:
    ada = applied(Portal([says(MADE), says(MADE), says('{"data": {"id": 8}}')]))
    assert ada.sent
    assert ada.odd == ["application 7: submitted as 7, then as 8"]


def test_unexpected_error_is_counted() -> None:
    for section in (3, None):  # one after the other, and at the same time as others
        ada = applied(Portal([breaks(ZeroDivisionError("a mistake of the test"))]), section)
        assert ada.odd == ["application 0: ZeroDivisionError('a mistake of the test')"]
        assert ada.done


def test_error_after_the_application_is_sent_is_counted() -> None:
    ada = applied(Portal([says(MADE), says(MADE), breaks(KeyError("id"))]))
    assert ada.sent
    assert ada.odd == ["application 7: KeyError('id')"]
