"""GET and POST /admin/terms/<t>/windows/<w>/room/admit, …/expire and …/empty."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of

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


@pytest.fixture
def admin(app: Flask, window: Any) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "max")


def address(term: Any, window: Any, view: str) -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room/{view}"


def kinds(term: Any, window: Any, cast: Cast) -> list[str]:
    students = (cast.ada, cast.ben)
    return [room.queue_entry(term.id, window.id, each.id).kind for each in students]


def entries() -> list[tuple[str, str, str]]:
    with transaction() as session:
        found = select(AuditEntry).where(AuditEntry.action.like("room.%")).order_by(AuditEntry.id)
        return [(each.action, each.who, each.reason) for each in session.scalars(found)]


def test_an_admin_lets_in_ends_an_access_and_empties_the_room(
    admin: FlaskClient, term: Any, window: Any, cast: Cast
) -> None:
    admin.post(address(term, window, "admit"), data={"count": "1", "reason": WHY})
    assert kinds(term, window, cast) == ["called", "waiting"]
    body = {"student": cast.ada.number, "reason": WHY}
    admin.post(address(term, window, "expire"), data=body)
    assert kinds(term, window, cast) == ["none", "waiting"]
    admin.post(address(term, window, "empty"), data={"reason": WHY})
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
    body = {"student": cast.ben.number, "reason": WHY}
    answer = admin.post(address(term, window, "expire"), data=body)
    assert answer.status_code == 422
    assert "not in the picker" in answer.text


def test_no_one_is_let_in_before_the_opening(admin: FlaskClient, term: Any) -> None:
    coming = builders.a_coming_window(term)
    answer = admin.post(address(term, coming, "admit"), data={"count": "1", "reason": WHY})
    assert answer.status_code == 409
