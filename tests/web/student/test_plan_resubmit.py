"""POST /terms/<t>/plan/submit: again, without an answer, and with invalid forms."""

import json
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.registration import plans
from portal.registration.plan_store import change
from portal.registration.plans import Plan, add
from portal.runtime.embedded_servers import Servers
from tests.cast import Cast
from tests.operations.test_health import stalled
from tests.registration.database_outage import away, settled
from tests.registration.plan_makers import line
from tests.web.pages import held, words
from tests.web.student.plans import (
    a_class,
    journal,
    own_fields,
    plan,
    planned,
    result,
    send,
    submission,
)
from tests.web.visitors import browser_of


def test_plan_submitted_twice_has_one_effect(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    first, second = (ada.post(f"/terms/{term.id}/plan/submit", data=form) for _ in range(2))
    assert result(first.text, 1) == result(second.text, 1)
    assert "This was decided at " in second.text
    assert "when you first sent it." in second.text
    assert len(journal(term, cast.ada)) == 1


def test_plan_submitted_from_another_tab_takes_no_alternative(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    one, other = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    plan(term, cast.ada, line(one.id, other.id))
    tabs = [submission(ada.get(f"/terms/{term.id}/plan").text) for _ in range(2)]
    pages = [ada.post(f"/terms/{term.id}/plan/submit", data=form).text for form in tabs]
    assert 'data-outcome="had"' in result(pages[1], 1)
    assert held(term, cast.ada) == [one.id]


def test_shown_plan_is_submitted(ada: FlaskClient, term: Any, cast: Cast) -> None:
    seen, later = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    plan(term, cast.ada, line(seen.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    change(term.id, cast.ada.id, 1, lambda found: add(found, line(later.id).alternatives[0]))
    ada.post(f"/terms/{term.id}/plan/submit", data=form)
    assert held(term, cast.ada) == [seen.id]
    assert planned(term, cast.ada) == [[[later.id]]]


def test_plan_can_be_submitted_while_postgresql_is_down(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    settled()
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    with away():
        answer = ada.post(f"/terms/{term.id}/plan/submit", data=form)
    assert (answer.status_code, held(term, cast.ada)) == (200, [section.id])
    again = ada.post(f"/terms/{term.id}/plan/submit", data={**form, "request": "another-key"}).text
    assert 'data-outcome="had"' in result(again, 1)
    assert planned(term, cast.ada) == []


def test_plan_with_an_unknown_result_can_be_sent_again(
    ada: FlaskClient, servers: Servers, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    plan(term, cast.ada, line(section.id))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    here = f"/terms/{term.id}/plan/submit"
    ada.post(here, data=form)  # decided, but suppose the answer was lost
    with stalled(servers, "valkey"):
        answer = ada.post(here, data={**form, "unsure": "1"})
    assert answer.status_code == 503
    assert "We don’t know yet if your request was processed" in words(answer.text)
    again = own_fields(answer.text)
    assert again == {**again, **form, "csrf_token": again["csrf_token"], "unsure": "1"}
    assert 'data-outcome="enrolled"' in result(ada.post(here, data=again).text, 1)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense",
        "[]",
        "{}",
        json.dumps([{"options": [[[1]]], "wait": True}] * 30),
        json.dumps([{"options": [[["x"]]], "wait": True}]),
        "[" * 10_000,
    ],
)
def test_invalid_plan_is_refused(ada: FlaskClient, term: Any, text: str) -> None:
    assert send(ada, term, plan=text).status_code == 400


def test_unknown_section_in_a_plan_is_refused_with_the_reason(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = a_class(term, "CSC-1100")
    page = send(ada, term, line(999_999), line(section.id)).text
    assert 'data-reason="section_unknown"' in result(page, 1)
    assert held(term, cast.ada) == [section.id]


def test_key_of_another_plan_is_refused(ada: FlaskClient, term: Any, cast: Cast) -> None:
    one, other = a_class(term, "CSC-1100"), a_class(term, "MAT-1010")
    send(ada, term, line(one.id))
    assert send(ada, term, line(other.id)).status_code == 400
    assert held(term, cast.ada) == [one.id]


def test_submission_needs_no_stored_plan(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = a_class(term, "CSC-1100")
    assert send(ada, term, line(section.id)).status_code == 200
    assert held(term, cast.ada) == [section.id]


def test_page_is_for_students(app: Flask, term: Any) -> None:
    assert send(browser_of(app, "iris"), term, line(1)).status_code == 403


def test_unknown_term_is_not_found(ada: FlaskClient) -> None:
    data = {"plan": plans.write(Plan((line(1),))), "request": "one-key-of-many"}
    assert ada.post("/terms/999999/plan/submit", data=data).status_code == 404
