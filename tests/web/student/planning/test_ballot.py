"""The ballot on the plan page: with plain forms and with htmx."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.outage import postgresql
from portal.people import caches
from portal.people.models import Student
from portal.registration import limits
from portal.rounds import ballots, steps
from portal.rounds.models import BallotRow
from portal.windows.models import Round
from tests.cast import Cast, a_student, a_term, an_ended_window
from tests.rounds.builders import a_draft, a_round, applied, ended, frozen, ranks
from tests.web.student.plans import a_class, hidden_in, panel, plan_section, planned
from tests.web.visitors import browser_of


@pytest.fixture
def fall(cast: Cast) -> Term:  # noqa: ARG001
    return a_term()


def page(client: FlaskClient, term: Term) -> str:
    return panel(client.get(f"/terms/{term.id}/plan").text)


def hands_in(client: FlaskClient, found: Round, **fields: str) -> Any:
    data = {"most_courses": "5", "most_credits": "20", **fields}
    address = f"/terms/{found.term_id}/rounds/{found.id}/ballot"
    return client.post(address, data=data, follow_redirects=True)


def test_student_hands_in_the_plan_and_gets_a_code(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    one, two, found = a_class(fall, "CSC-1"), a_class(fall, "MTH-1"), a_round(fall)
    ranks(found, cast.ada, one, two)
    ballots.withdraw(found.id, cast.ada.id)
    shown = page(ada, fall)
    assert "First round" in shown
    assert "Being early makes no difference" in shown
    assert "Submit my ballot" in shown
    answer = hands_in(ada, found)
    ballot = ballots.ballot_of(found.id, cast.ada.id)
    assert ballot
    assert "Your ballot is in." in answer.text
    assert ballot.code in page(ada, fall)
    assert "2 choices" in page(ada, fall)
    assert ballot.code in ada.get(f"/terms/{fall.id}/rounds/{found.id}").text


def test_buttons_of_the_plan_change_the_ballot(ada: FlaskClient, fall: Term, cast: Cast) -> None:
    one, two, found = a_class(fall, "CSC-1"), a_class(fall, "MTH-1"), a_round(fall)
    ranks(found, cast.ada, one, two)
    form = {**hidden_in(page(ada, fall)), "line": "1", "do": "up"}
    assert form["ballot"] == str(found.id)
    headers = {"HX-Request": "true", "HX-Current-URL": f"http://localhost/terms/{fall.id}/plan"}
    answer = ada.post(f"/terms/{fall.id}/plan/change", data=form, headers=headers)
    assert "Your ballot has 2 choices" in answer.text
    ballot = ballots.ballot_of(found.id, cast.ada.id)
    assert ballot
    assert ballot.choices[0].sections == (two.id,)


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_change_after_the_end_says_that_it_came_too_late(
    ada: FlaskClient, fall: Term, cast: Cast, headers: dict[str, str]
) -> None:
    one, two, found = a_class(fall, "CSC-1"), a_class(fall, "MTH-1"), a_round(fall)
    ranks(found, cast.ada, one, two)
    form = {**hidden_in(page(ada, fall)), "line": "1", "do": "up"}
    ended(found)
    address = f"/terms/{fall.id}/plan/change"
    answer = ada.post(address, data=form, headers=headers, follow_redirects=True)
    assert "Your plan has this change" in answer.text
    assert planned(fall, cast.ada)[0] == [[two.id]]
    ballot = ballots.ballot_of(found.id, cast.ada.id)
    assert ballot
    assert ballot.choices[0].sections == (one.id,)
    assert "It is final" in page(ada, fall)


def test_late_ballot_is_refused_with_a_sentence(ada: FlaskClient, fall: Term, cast: Cast) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    ended(found)
    answer = hands_in(ada, found)
    assert "the round ended on" in answer.text
    assert "Your ballot stays as it was then" in answer.text


@pytest.mark.parametrize(
    "fields",
    [
        *({"most_courses": each} for each in ("7", "0", "-1", "x", "9" * 5000)),
        *({"most_credits": each} for each in ("21", "0", "NaN", "Infinity", "", "4.001")),
        *({"most_credits": each} for each in ("1e999990", "1e99999999", "-1e99999999")),
    ],
)
def test_wrong_limits_are_named(
    ada: FlaskClient, fall: Term, cast: Cast, fields: dict[str, str]
) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    ballots.withdraw(found.id, cast.ada.id)
    assert "at most 6 courses and 20 credits" in hands_in(ada, found, **fields).text
    assert ballots.ballot_of(found.id, cast.ada.id) is None


def test_empty_plan_is_pointed_out(ada: FlaskClient, fall: Term) -> None:
    assert "Your plan is empty" in hands_in(ada, a_round(fall)).text


def test_ballot_is_withdrawn(ada: FlaskClient, fall: Term, cast: Cast) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    address = f"/terms/{fall.id}/rounds/{found.id}/ballot/withdraw"
    assert "Your ballot is withdrawn" in ada.post(address, follow_redirects=True).text
    assert ballots.ballot_of(found.id, cast.ada.id) is None


def test_canceled_round_stays_visible_with_its_ballots_and_root(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(found, student, one)
    after = frozen(found)
    steps.cancel(after.id, after.version, cast.max.id, "tests")
    ballots.forget()
    assert "This round was canceled. No one got a seat from it." in page(ada, fall)
    shown = ada.get(f"/terms/{fall.id}/rounds/{found.id}").text
    assert "This round was canceled" in shown
    assert "<dt>Ballots</dt><dd>2</dd>" in shown
    assert str(after.root) in shown
    assert "This round was canceled" in hands_in(ada, found).text
    assert "First round has been canceled" in ada.get("/inbox").text


def test_canceled_draft_is_not_shown(ada: FlaskClient, fall: Term, cast: Cast) -> None:
    found = a_draft(fall)
    steps.cancel(found.id, found.version, cast.max.id, "tests")
    ballots.forget()
    assert "First round" not in ada.get(f"/terms/{fall.id}/plan").text
    assert ada.get(f"/terms/{fall.id}/rounds/{found.id}").status_code == 404


def test_round_of_others_is_not_shown(ada: FlaskClient, fall: Term) -> None:
    a_student("eli", year="Senior")
    found = a_round(fall, cohort={"years": ["Senior"]})
    assert "First round" not in ada.get(f"/terms/{fall.id}/plan").text
    assert ada.get(f"/terms/{fall.id}/rounds/{found.id}").status_code == 404
    assert hands_in(ada, found).status_code == 404


def test_student_who_leaves_the_cohort_keeps_ballot_result_and_proof(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    _in_year(cast.ada.id, "Senior")
    one, found = a_class(fall, "CSC-1"), a_round(fall, cohort={"years": ["Senior"]})
    code = ranks(found, cast.ada, one).code
    _in_year(cast.ada.id, "Junior")
    assert code in page(ada, fall)
    assert "Your ballot is in." in hands_in(ada, found, most_courses="1").text
    applied(found)
    address = f"/terms/{fall.id}/rounds/{found.id}"
    result = ada.get(address).text
    assert "Your result" in result
    assert found.public_source in result  # to compare the value with its source
    assert "4711</dd>" in result
    for name in ("proof.json", "published.json", "verify.py"):
        assert ada.get(f"{address}/{name}").status_code == 200


def test_student_who_leaves_the_cohort_can_withdraw_and_not_come_again(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    _in_year(cast.ada.id, "Senior")
    one, found = a_class(fall, "CSC-1"), a_round(fall, cohort={"years": ["Senior"]})
    ranks(found, cast.ada, one)
    _in_year(cast.ada.id, "Junior")
    address = f"/terms/{fall.id}/rounds/{found.id}/ballot/withdraw"
    assert "Your ballot is withdrawn" in ada.post(address, follow_redirects=True).text
    assert hands_in(ada, found).status_code == 404


def _in_year(student: int, year: str) -> None:
    with transaction() as session:
        session.get_one(Student, student).year = year
    caches.apply_changes(None)  # without waiting for the next look at changes


def test_students_plan_for_a_round_after_their_last_window(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    one = a_class(fall, "CSC-1")
    an_ended_window(fall)
    limits.forget_windows()
    assert "CSC 1" not in ada.get(f"/terms/{fall.id}").text
    found = a_round(fall)
    listed = ada.get(f"/terms/{fall.id}").text
    assert "CSC 1" in listed
    assert "Rank the classes you want" in listed
    assert "Being early makes no difference" in listed
    plan_section(ada, one)
    hands_in(ada, found)
    ballot = ballots.ballot_of(found.id, cast.ada.id)
    assert ballot
    assert ballot.choices[0].sections == (one.id,)


def test_plan_is_shown_without_rounds_while_postgresql_is_away(
    ada: FlaskClient, fall: Term, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.core.outage.REST", 60.0)  # s, also while the machine is busy
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    assert "First round" in page(ada, fall)
    postgresql.begin()
    shown = page(ada, fall)
    postgresql.end()
    assert "First round" not in shown
    assert "CSC 1" in shown


def test_students_rank_a_choice_together(
    ada: FlaskClient, app: Flask, fall: Term, cast: Cast
) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    address = f"/terms/{fall.id}/rounds/{found.id}"
    form = {
        "do": "make",
        "sections": str(one.id),
        "students": f"{cast.ben.number}, {cast.cleo.number}",
    }
    answer = ada.post(f"{address}/joint", data=form, follow_redirects=True)
    assert "The others see it on this page" in answer.text
    assert "Does not count yet" in answer.text
    for student, name in ((cast.ben, "ben"), (cast.cleo, "cleo")):
        ranks(found, student, one)
        browser = browser_of(app, name)
        assert "wants to rank a choice together with you" in page(browser, fall)
        shown = browser.get(address).text
        assert "They will be able to find your whole ballot in the published file." in shown
        (number,) = re.findall(r'name="joint" value="(\d+)"', shown)
        browser.post(f"{address}/joint", data={"do": "agree", "joint": number})
    assert "Counts" in ada.get(address).text
    ended_ = ada.post(
        f"{address}/joint", data={"do": "leave", "joint": number}, follow_redirects=True
    )
    assert "has ended for all of you" in ended_.text
    again_ = ada.post(
        f"{address}/joint", data={"do": "agree", "joint": number}, follow_redirects=True
    )
    assert "This joint choice has ended" in again_.text


@pytest.mark.parametrize("students", ["", "1 2 3 4", " , ; ", "\0"])
def test_wrong_number_of_students_is_named(
    ada: FlaskClient, fall: Term, cast: Cast, students: str
) -> None:
    one, found = a_class(fall, "CSC-1"), a_round(fall)
    ranks(found, cast.ada, one)
    form = {"do": "make", "sections": str(one.id), "students": students}
    address = f"/terms/{fall.id}/rounds/{found.id}/joint"
    answer = ada.post(address, data=form, follow_redirects=True)
    assert "one to three other students" in answer.text
    assert ada.post(address, data={"do": "anything"}).status_code == 400
    gone = ada.post(address, data={"do": "agree", "joint": "9" * 30}, follow_redirects=True)
    assert "This joint choice has ended" in gone.text


def test_page_of_a_round_explains_tickets_and_priorities(
    ada: FlaskClient, fall: Term, cast: Cast
) -> None:
    one, first = a_class(fall, "CSC-1", capacity=1), a_round(fall)
    for student in (cast.ada, cast.ben):
        ranks(first, student, one)
    applied(first)
    with transaction() as session:
        (missed,) = session.scalars(
            select(BallotRow.student_id).where(BallotRow.unmet_first.is_(True))
        )
    second = a_round(
        fall, name="Second", tickets=3, mechanism="deferred", priorities=("major", "year Senior")
    )
    text = ada.get(f"/terms/{fall.id}/rounds/{second.id}").text
    assert f"You have {2 if missed == cast.ada.id else 1} ticket" in text
    assert "3 at most" in text
    assert "majors of the section’s subject; Senior" in text
