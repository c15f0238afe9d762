"""An access token ends with its visit, even before its own expiry."""

from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.registration import plans
from portal.registration.requests import SectionRequest
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import send_claim
from tests.waiting_room.lobby import come, facts, look, proven
from tests.waiting_room.rooms import limits, visit_over
from tests.waiting_room.test_token_required import journal, refused
from tests.web.api.callers import Caller, caller
from tests.web.pages import HTMX, address, held


@pytest.fixture
def window(term: Any) -> Any:
    return builders.an_open_window(term)


@pytest.fixture
def section(term: Any, window: Any) -> Any:  # noqa: ARG001
    return builders.a_section(builders.a_course(), term)


@pytest.fixture
def phone(guarded: Flask, cast: Cast, ada: FlaskClient, term: Any, section: Any) -> FlaskClient:  # noqa: ARG001
    """Return another browser of Ada, who is admitted in both."""
    other = proven(guarded, "ada", cast.ada)
    for browser in (ada, other):
        assert come(browser, term).headers["Fairseat-Gate"] == "in"
    return other


def pick(browser: FlaskClient, section: Any) -> TestResponse:
    return browser.post(address(section, "pick"), data={"request": uuid4().hex})


def leave(browser: FlaskClient, term: Any) -> None:
    assert browser.post(f"/terms/{term.id}/room/leave", headers=HTMX).status_code == 200


def token_of(program: Caller, window: Any) -> str:
    """Return the access token that a program gets from the waiting room."""
    line = f"/waiting-room/{window.id}/requests"
    request = program.post(line, {}).json["data"]["request_id"]
    return str(program.get(f"{line}/{request}").json["data"]["access_token"])


def test_no_device_can_claim_after_the_student_left(
    ada: FlaskClient, phone: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    leave(ada, term)
    before = journal(term)
    assert refused(pick(phone, section))
    assert journal(term) == before
    assert held(term, cast.ada) == []


def test_refused_device_loses_the_token(
    ada: FlaskClient, phone: FlaskClient, term: Any, section: Any
) -> None:
    leave(ada, term)
    assert refused(pick(phone, section))
    assert phone.get_cookie("pass", path=f"/terms/{term.id}") is None


def test_other_devices_say_that_the_visit_is_over(
    ada: FlaskClient, phone: FlaskClient, term: Any
) -> None:
    assert "until" in facts(look(phone, term))
    leave(ada, term)
    assert not facts(look(phone, term)).get("until")


def test_plan_is_refused_after_the_visit(
    ada: FlaskClient, phone: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    leave(ada, term)
    packed = plans.write(plans.add(plans.Plan(), (SectionRequest(section.id),)))
    form = {"plan": packed, "request": "a-key-of-its-own"}
    assert refused(phone.post(f"/terms/{term.id}/plan/submit", data=form))
    assert held(term, cast.ada) == []


def test_program_cannot_register_after_the_visit(
    guarded: Flask, ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    (window,) = backend().ledger.windows(term.id)
    come(ada, term)
    program = caller(guarded, "ada")
    token = token_of(program, window)
    body = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}
    leave(ada, term)
    answer = program.post("/register", body, Fairseat_Pass=token)
    assert refused(answer)
    assert answer.json["type"] == "/api/docs#no-pass"
    assert held(term, cast.ada) == []


def test_student_who_is_admitted_again_can_claim_again(
    ada: FlaskClient, phone: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    leave(ada, term)
    assert come(phone, term).headers["Fairseat-Gate"] == "in"
    assert pick(phone, section).status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_earlier_decision_is_replayed_after_the_visit(
    ada: FlaskClient, phone: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    form = {"request": uuid4().hex}
    assert ada.post(address(section, "pick"), data=form).status_code == 303
    leave(ada, term)
    assert phone.post(address(section, "pick"), data=form).status_code == 303
    assert held(term, cast.ada) == [section.id]


def test_student_whose_space_went_to_the_next_cannot_claim(
    ada: FlaskClient, ben: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    (window,) = backend().ledger.windows(term.id)
    limits(term, window, at_once=1)
    come(ada, term)
    assert come(ben, term).headers["Fairseat-Gate"] == "waiting"
    visit_over(backend(), term, window, cast.ada.id)
    assert come(ben, term).headers["Fairseat-Gate"] == "in"
    assert refused(pick(ada, section))
    assert pick(ben, section).status_code == 303
    assert (held(term, cast.ada), held(term, cast.ben)) == ([], [section.id])


def test_no_claim_is_decided_after_leaving(
    guarded: Flask, ada: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    sections = [builders.a_section(builders.a_course(f"CSC-{each}"), term) for each in range(4)]
    come(ada, term)
    cookie = ada.get_cookie("pass", path=f"/terms/{term.id}")
    assert cookie
    under_way, answers = Event(), []

    def claims(section: Any) -> None:
        program = caller(guarded, "ada")
        body = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}
        for _ in range(6):
            answers.append(program.post("/register", body, Fairseat_Pass=cookie.value))
            under_way.set()

    threads = [Thread(target=claims, args=(section,)) for section in sections]
    for thread in threads:
        thread.start()
    under_way.wait()
    room.leave(term.id, window.id, cast.ada.id)
    decided = journal(term)
    for thread in threads:
        thread.join()
    assert journal(term) == decided
    assert refused(answers[-1])


def test_ledger_checks_a_visit_only_if_a_room_is_named(
    term: Any, section: Any, cast: Cast, window: Any
) -> None:
    """The previous version, and portals without waiting rooms, name no room."""
    requested = {"student": cast.ada.id, "section": section.id, "wait": False}
    about = {"credits": 400, "credit_limit": 9900, "windows": [window.id]}
    assert send_claim(backend().ledger, term.id, **requested, **about).registration
