"""GET /receipts/<code>."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.recorder.journal import last_seq
from portal.recorder.receipts import code
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.web.pages import address, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def refusal(ada: FlaskClient, term: Any) -> str:
    """Return the code of a refusal of Ada's."""
    full = builders.a_section(builders.a_course(), term, capacity=0)
    ada.post(address(full, "pick"))
    return code(term.id, last_seq(term.id))


def test_receipt_shows_decision_time_and_reasons(ada: FlaskClient, refusal: str) -> None:
    text = words(ada.get(f"/receipts/{refusal}").text)
    for fact in (
        f"Receipt {refusal}",
        "You couldn’t add CSC 1100-01.",
        "CSC 1100-01 is full.",
        "Seats at that time 0 of 0 seats open, 0 waiting.",
        "Student Ada",
        "Refused",
    ):
        assert fact in text
    assert re.search(r"\d:\d\d:\d\d\.\d{3} [ap]m E[SD]T", text)


def test_receipt_is_the_same_after_recording(ada: FlaskClient, term: Any, refusal: str) -> None:
    before = words(ada.get(f"/receipts/{refusal}").text)
    drain(term.id)
    after = words(ada.get(f"/receipts/{refusal}").text)
    assert before == after


def test_code_may_be_in_small_letters(ada: FlaskClient, refusal: str) -> None:
    answer = ada.get(f"/receipts/{refusal.lower()}", follow_redirects=True)
    assert answer.request.path == f"/receipts/{refusal}"
    assert answer.status_code == 200


def test_receipt_of_another_student_is_not_found(app: Flask, term: Any, refusal: str) -> None:
    ben = browser_of(app, "ben")
    answers = [
        ben.get(f"/receipts/{each}")
        for each in (refusal, code(term.id, 1), code(term.id, 99_999), "7-K3QX-0", "nonsense")
    ]
    assert {each.status_code for each in answers} == {404}
    assert len({words(each.text.split("Code for")[0]) for each in answers}) == 1


def test_receipt_needs_a_login(client: FlaskClient, refusal: str) -> None:
    assert "/login" in client.get(f"/receipts/{refusal}").location


def test_registrar_is_redirected_to_the_admin_view(app: Flask, refusal: str) -> None:
    answer = browser_of(app, "max").get(f"/receipts/{refusal}")
    assert answer.location == f"/admin/receipts/{refusal}"


def test_given_seat_has_a_receipt(ada: FlaskClient, term: Any) -> None:
    press(ada, builders.a_section(builders.a_course(), term, capacity=3), "pick")
    given = code(term.id, last_seq(term.id))
    text = words(ada.get(f"/receipts/{given}").text)
    assert "You added CSC 1100-01." in text
    assert "2 of 3 seats open" in text
