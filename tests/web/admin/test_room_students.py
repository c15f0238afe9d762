"""GET and POST /admin/terms/<t>/windows/<w>/room/admit, …/expire and …/empty."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import Backend
from portal.waiting_room import room
from tests import audit_trail
from tests import cast as builders
from tests.cast import Cast

WHY = "The rush is over."


@pytest.fixture
def term(app: Flask, cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def window(term: Any, cast: Cast) -> Any:
    """Return an open window whose room admits no one, with Ada and Ben in the queue."""
    found = builders.an_open_window(term)
    room.set_limits(term.id, found.id, 0, 100, off=False)
    for student in (cast.ada, cast.ben):
        room.enter(term.id, found.id, student.id)
    return found


def address(term: Any, window: Any, view: str) -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room/{view}"


def kinds(term: Any, window: Any, cast: Cast) -> list[str]:
    students = (cast.ada, cast.ben)
    return [room.queue_entry(term.id, window.id, each.id).kind for each in students]


def entries() -> list[tuple[str, str, str]]:
    found = audit_trail.entries("room.%")
    return [(each.action, each.who, each.reason) for each in found]


def hidden_key(admin: FlaskClient, place: str) -> str:
    found = re.search(r'name="request" value="(\w+)"', admin.get(place).text)
    assert found
    return found[1]


def send(admin: FlaskClient, place: str, **data: str) -> TestResponse:
    """Open the form and send it."""
    return admin.post(place, data={"reason": WHY, "request": hidden_key(admin, place), **data})


def test_an_admin_lets_in_ends_an_access_and_empties_the_room(
    admin: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    send(admin, address(term, window, "admit"), count="1")
    assert kinds(term, window, cast) == ["called", "waiting"]
    send(admin, address(term, window, "expire"), student=cast.ada.number)
    assert kinds(term, window, cast) == ["none", "waiting"]
    send(admin, address(term, window, "empty"))
    assert kinds(term, window, cast) == ["none", "none"]
    actions = ("room.admit", "room.expire", "room.reset")
    assert entries() == [(action, "Max", WHY) for action in actions]


@pytest.mark.parametrize(
    ("view", "data"),
    [
        ("admit", {"count": "0", "reason": WHY}),
        ("admit", {"count": "501", "reason": WHY}),
        ("admit", {"count": "1"}),
        ("expire", {"student": "no such", "reason": WHY}),
        ("expire", {"reason": WHY}),
        ("empty", {}),
    ],
)
def test_an_incomplete_form_changes_nothing(  # noqa: PLR0917  the fixtures
    admin: FlaskClient, term: Any, window: Any, cast: Cast, view: str, data: dict[str, str]
) -> None:
    assert admin.post(address(term, window, view), data=data).status_code == 422
    assert kinds(term, window, cast) == ["waiting", "waiting"]
    assert entries() == []


def test_a_student_who_is_not_admitted_has_no_access_to_end(
    admin: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    answer = send(admin, address(term, window, "expire"), student=cast.ben.number)
    assert answer.status_code == 422
    assert "not in the picker" in answer.text


def test_no_one_is_let_in_before_the_opening(admin: FlaskClient, term: Any) -> None:
    coming = builders.a_coming_window(term)
    assert send(admin, address(term, coming, "admit"), count="1").status_code == 409


def test_a_form_that_is_sent_twice_lets_in_once(
    admin: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    place = address(term, window, "admit")
    sent = {"count": "1", "reason": WHY, "request": hidden_key(admin, place)}
    for _ in "12":
        assert "1 student let in" in admin.post(place, data=sent, follow_redirects=True).text
    assert kinds(term, window, cast) == ["called", "waiting"]
    assert len(entries()) == 1
    assert admin.post(place, data={**sent, "count": "2"}).status_code == 409
    assert kinds(term, window, cast) == ["called", "waiting"]


def test_a_form_that_is_sent_twice_empties_once(
    admin: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    place = address(term, window, "empty")
    sent = {"reason": WHY, "request": hidden_key(admin, place)}
    admin.post(place, data=sent)
    room.enter(term.id, window.id, cast.ben.id)
    admin.post(place, data=sent)
    assert kinds(term, window, cast) == ["none", "waiting"]
    assert len(entries()) == 1


def test_a_form_without_an_answer_may_have_emptied_the_room_and_can_be_sent_again(
    admin: FlaskClient, term: Any, window: Any, cast: Cast, backend: Backend
) -> None:
    place = address(term, window, "empty")
    sent = {"reason": WHY, "request": hidden_key(admin, place)}
    backend.redis.client_pause(60_000, all=False)  # it answers reads alone
    try:
        silent = admin.post(place, data=sent)
    finally:
        backend.redis.client_unpause()
    assert silent.status_code == 503
    assert "know yet if your request was processed" in silent.text
    admin.post(place, data=sent)
    assert kinds(term, window, cast) == ["none", "none"]
    assert [action for action, *_ in entries()] == ["room.reset"]
