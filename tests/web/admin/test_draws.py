"""…/room/draw names the public value of a draw, …/room/draw/value enters it."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from portal.catalog.local_time import local_clock
from portal.catalog.models import Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.rounds import steps
from portal.waiting_room import draw_codes, room
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.rooms import known_in
from tests.web.admin.rounds.test_result import alarms
from tests.web.pages import words

WHY = "No one can choose it"


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def window(term: Term) -> WindowView:
    return builders.a_coming_window(term, minutes=60)


def address(term: Term, window: WindowView, more: str = "") -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room{more}"


def name(
    admin: FlaskClient, term: Term, window: WindowView, minutes: float = 30, version: int = 0
) -> TestResponse:
    at = local_clock().at(round(builders.backend().ledger.now() + minutes * builders.MINUTE))
    data = {
        "public_source": "Lottery 4711",
        "public_at": at.strftime("%Y-%m-%dT%H:%M"),
        "reason": WHY,
        "version": version,
    }
    return admin.post(address(term, window, "/draw"), data=data)


def entries(window: WindowView, term: Term) -> dict[str, AuditEntry]:
    with transaction() as session:
        subject = AuditEntry.subject == f"term:{term.id} window:{window.id}"
        return {each.action: each for each in session.scalars(select(AuditEntry).where(subject))}


def test_registrar_names_a_value_and_enters_it(
    admin: FlaskClient, term: Term, window: WindowView, cast: Cast
) -> None:
    room.enter(term.id, window.id, cast.ada.id)
    assert "No public value was named." in admin.get(address(term, window)).text
    assert name(admin, term, window).status_code == 303
    page = admin.get(address(term, window)).text
    assert "Lottery 4711" in page
    assert "are fixed ten minutes before" in page
    value = address(term, window, "/draw/value")
    assert "No codes were fixed" in admin.get(value).text
    known_in(window, 5)
    steps.work(term.id)
    root = draw_codes.fixed(window.id).root
    assert root in admin.get(address(term, window)).text
    assert "can’t be known yet" in admin.get(value).text
    assert admin.get(address(term, window, "/draw")).status_code == 409
    known_in(window, -1)
    assert value in admin.get(address(term, window)).text
    form = {"value": " 0BADC0DE ", "reason": WHY}
    asked = admin.post(value, data=form)
    assert '<dd class="ops-text">0badc0de</dd>' in asked.text
    assert draw_codes.public_value(term.id, window.id) == ""
    assert admin.post(value, data=form | {"sure": "0badc0de"}).status_code == 303
    assert draw_codes.public_value(term.id, window.id) == "0badc0de"
    other = {"value": "another", "sure": "another", "reason": WHY}
    assert admin.post(value, data=other).status_code == 409
    found = entries(window, term)
    assert found["window.public_source"].account_id == cast.max.id
    assert found["window.codes"].after["root"] == root  # type: ignore[index]
    assert found["window.public_value"].reason == WHY
    assert found["window.public_value"].after["public_value"] == "0badc0de"  # type: ignore[index]


def test_page_says_that_the_value_was_not_entered_in_time(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    name(admin, term, window)
    builders.open_soon(term, window, seconds=-1)
    page = admin.get(address(term, window)).text
    assert "was not entered before the opening" in page
    for more in ("/draw", "/draw/value"):
        assert "the window opens, or was open" in admin.get(address(term, window, more)).text


def test_alarm_rings_while_late_codes_can_still_be_fixed(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    name(admin, term, window)
    known_in(window, 9)  # due for a minute
    assert "for the draw of" not in alarms(admin)
    known_in(window, 7)
    found = alarms(admin)
    assert "The codes for the draw of Selection" in found
    assert "are not fixed yet" in found
    assert "data-rings" in found
    known_in(window, -1)
    assert "were not fixed in time. Name a public value that is known later" in words(alarms(admin))
    assert name(admin, term, window, 30, version=1).status_code == 303
    assert "for the draw of" not in alarms(admin)
    known_in(window, 7)
    steps.work(term.id)
    assert "for the draw of" not in alarms(admin)


def test_no_alarm_about_a_draw_is_left_after_the_opening(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    name(admin, term, window)
    known_in(window, 7)
    builders.open_soon(term, window, seconds=-1)
    assert "for the draw of" not in alarms(admin)


@pytest.mark.parametrize(
    ("minutes", "text"),
    [(5, "in more than ten minutes"), (58, "ten minutes before the opening or earlier")],
)
def test_value_must_leave_time(
    admin: FlaskClient, term: Term, window: WindowView, minutes: float, text: str
) -> None:
    answer = name(admin, term, window, minutes)
    assert answer.status_code == 409
    assert text in answer.text


@pytest.mark.parametrize(
    "wrong",
    [{"public_source": ""}, {"public_source": "x" * 301}, {"public_at": "soon"}, {"reason": ""}],
)
def test_form_with_mistakes_is_shown_again(
    admin: FlaskClient, term: Term, window: WindowView, wrong: dict[str, Any]
) -> None:
    data = {"public_source": "L", "public_at": "2030-01-01T08:00", "reason": WHY, "version": 0}
    assert admin.post(address(term, window, "/draw"), data=data | wrong).status_code == 422
    assert draw_codes.find(window.id) is None


def test_change_of_someone_else_is_noticed(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    assert name(admin, term, window).status_code == 303
    assert "Someone else has changed this" in name(admin, term, window).text
    assert name(admin, term, window, 40, version=1).status_code == 303
