"""A form that was refused and is sent again: from the page of the refusal, or an old one."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import backend
from tests import cast as builders
from tests.cast import Cast, open_soon
from tests.ledger_claims import claim
from tests.recorder.processes import wait_for
from tests.registration.plan_makers import line
from tests.web.pages import DIALOG, address, held, hidden, press, seat, words
from tests.web.student.plans import hidden_in, plan, submission

ANSWERED = "You already sent this at "
RETRY = "Press the button below to try again."


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=1, waitlist=0)


@pytest.mark.parametrize("headers", [{}, DIALOG])
def test_form_after_a_refusal_has_a_new_key(
    ada: FlaskClient, ben: FlaskClient, section: Any, cast: Cast, headers: dict[str, str]
) -> None:
    form = hidden(ada.get(address(section, "pick")).text)
    seat(cast.ben, section)
    refused = ada.post(address(section, "pick"), data=form, headers=headers)
    assert refused.status_code == 422
    assert hidden(refused.text)["request"] != form["request"]
    press(ben, section, "drop")
    again = ada.post(address(section, "pick"), data=hidden(refused.text))
    assert again.status_code == 303


def test_old_form_shows_the_refusal_and_offers_a_retry(
    ada: FlaskClient, ben: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    form = hidden(ada.get(address(section, "pick")).text)
    seat(cast.ben, section)
    ada.post(address(section, "pick"), data=form)
    press(ben, section, "drop")
    old = ada.post(address(section, "pick"), data=form)
    assert old.status_code == 422
    assert ANSWERED in words(old.text)
    assert RETRY in words(old.text)
    assert "Add class" in old.text
    assert held(term, cast.ada) == []
    assert ada.post(address(section, "pick"), data=hidden(old.text)).status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_old_form_with_lasting_reasons_has_no_button(
    ada: FlaskClient, section: Any, cast: Cast
) -> None:
    form = hidden(ada.get(address(section, "pick")).text)
    seat(cast.ben, section)
    ada.post(address(section, "pick"), data=form)
    old = ada.post(address(section, "pick"), data=form)
    assert ANSWERED in words(old.text)
    assert "The current reasons are below." in words(old.text)
    assert 'data-reason="full"' in old.text or 'data-reason="waitlist_full"' in old.text
    assert "Add class" not in old.text


def test_old_form_shows_current_reasons(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course()
    section, rival = (builders.a_section(course, term, capacity=1, waitlist=0) for _ in range(2))
    form = hidden(ada.get(address(section, "pick")).text)
    seat(cast.ben, section)
    ada.post(address(section, "pick"), data=form)
    press(ben, section, "drop")
    seat(cast.ada, rival)
    old = ada.post(address(section, "pick"), data=form)
    assert 'data-reason="same_course"' in old.text
    assert 'data-reason="full"' not in old.text


def test_claim_before_the_opening_does_not_block_the_one_after(
    ada: FlaskClient, cast: Cast
) -> None:
    term = builders.a_term()
    window = builders.a_coming_window(term)
    section = builders.a_section(builders.a_course(), term)
    early = ada.post(address(section, "pick"), data={"request": "pressed-early"})
    assert 'data-reason="window_before"' in early.text
    open_soon(term, window, 0.2)
    wait_for(lambda: 'data-phase="open"' in ada.get(f"/terms/{term.id}").text, 30)
    old = ada.post(address(section, "pick"), data={"request": "pressed-early"})
    assert RETRY in words(old.text)
    assert held(term, cast.ada) == []
    assert ada.post(address(section, "pick"), data=hidden(old.text)).status_code == 303
    assert held(term, cast.ada) == [section.id]


@pytest.mark.parametrize("act", ["drop", "leave"])
def test_old_drop_or_leave_form_offers_a_retry(
    ada: FlaskClient, term: Any, cast: Cast, act: str
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=int(act == "drop"))
    form = {"request": "pressed-early"}
    assert ada.post(address(section, act), data=form).status_code == 422
    assert claim(cast.ada, section).outcome != "refused"
    old = ada.post(address(section, act), data=form)
    assert (old.status_code, RETRY in words(old.text)) == (422, True)
    assert ada.post(address(section, act), data=hidden(old.text)).status_code == 303


def test_old_plan_form_offers_a_retry(
    ada: FlaskClient, ben: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    plan(term, cast.ada, line(section.id, wait=False))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    seat(cast.ben, section)
    assert ada.post(f"/terms/{term.id}/plan/submit", data=form).status_code == 422
    press(ben, section, "drop")
    old = ada.post(f"/terms/{term.id}/plan/submit", data=form)
    assert (old.status_code, RETRY in words(old.text)) == (422, True)
    fresh = hidden_in(old.text[old.text.index("plan/submit") :])
    assert fresh["plan"] == form["plan"]
    assert ada.post(f"/terms/{term.id}/plan/submit", data=fresh).status_code == 200
    assert held(term, cast.ada) == [section.id]


def test_refused_plan_gets_a_new_key(ada: FlaskClient, term: Any, section: Any, cast: Cast) -> None:
    plan(term, cast.ada, line(section.id, wait=False))
    form = submission(ada.get(f"/terms/{term.id}/plan").text)
    seat(cast.ben, section)
    refused = ada.post(f"/terms/{term.id}/plan/submit", data=form, headers=DIALOG)
    assert submission(refused.text)["request"] != form["request"]


def test_old_form_of_a_waiting_student_does_not_join_again(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    full = builders.a_section(builders.a_course(), term, capacity=0)
    form = hidden(ada.get(address(full, "pick")).text)
    claim(cast.ada, full)
    ada.post(address(full, "pick"), data=form)  # you wait for it already
    press(ada, full, "leave")
    ada.post(address(full, "pick"), data=form)
    assert not backend().ledger.registrations(term.id, cast.ada.id).waiting
