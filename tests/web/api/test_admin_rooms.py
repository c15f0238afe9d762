"""Programs control waiting rooms with a service token."""

import secrets
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from portal.backend import Backend
from portal.core.db import transaction
from portal.people.models import ApiRequest
from portal.waiting_room import room
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.api.callers import Caller, program

REASON = {"reason": "The registrar asked for it."}


@pytest.fixture
def fall(cast: Cast) -> Any:  # noqa: ARG001
    """Return a term without a window."""
    return builders.a_term()


@pytest.fixture
def window(fall: Any) -> Any:
    """Return an open window whose room admits no one."""
    found = builders.an_open_window(fall)
    room.set_limits(fall.id, found.id, 0, 100, off=False)
    return found


@pytest.fixture
def guard(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return program(app, "waiting-room", name="Traffic control")


def home(term: Any, window: Any) -> str:
    return f"/admin/semesters/{term.id}/windows/{window.id}/waiting-room"


def kinds(term: Any, window: Any, *students: Any) -> list[str]:
    return [room.queue_entry(term.id, window.id, each.id).kind for each in students]


def test_both_limits_are_set_and_shown(guard: Caller, fall: Any, window: Any) -> None:
    answer = guard.post(f"{home(fall, window)}/limits", {"per_minute": 60, "at_once": 7, **REASON})
    assert answer.status_code == 200
    state = guard.get(home(fall, window)).json["data"]
    assert state == answer.json["data"]
    assert (state["per_minute"], state["at_once"], state["paused"]) == (60, 7, False)
    assert [each.who for each in entries("room.limits")] == ["Traffic control"]


def test_a_room_is_paused_and_resumed(guard: Caller, fall: Any, window: Any) -> None:
    room.set_limits(fall.id, window.id, 50, 100, off=False)
    paused = guard.post(f"{home(fall, window)}/pause", REASON).json["data"]
    assert (paused["paused"], paused["per_minute"]) == (True, 0)
    resumed = guard.post(f"{home(fall, window)}/resume", REASON).json["data"]
    assert (resumed["paused"], resumed["per_minute"]) == (False, 50)


def test_the_next_students_are_let_in_while_it_is_paused(
    guard: Caller, fall: Any, window: Any, cast: Cast
) -> None:
    for student in (cast.ada, cast.ben):
        room.enter(fall.id, window.id, student.id)
    key = {"Idempotency_Key": "let-one-in"}
    answers = [
        guard.post(f"{home(fall, window)}/admit", {"count": 1, **REASON}, **key) for _ in "12"
    ]
    assert [each.json["data"]["admitted"] for each in answers] == [1, 1]
    assert kinds(fall, window, cast.ada, cast.ben) == ["called", "waiting"]
    (entry,) = entries("room.admit")
    assert entry.after == {"wanted": 1, "admitted": 1}


def test_the_ledger_lets_in_once_for_each_key(fall: Any, window: Any, cast: Cast) -> None:
    for student in (cast.ada, cast.ben):
        room.enter(fall.id, window.id, student.id)
    assert [room.let_in(fall.id, window.id, 1, "key") for _ in "12"] == [1, 1]
    assert kinds(fall, window, cast.ada, cast.ben) == ["called", "waiting"]


def test_the_access_of_one_student_ends(guard: Caller, fall: Any, window: Any, cast: Cast) -> None:
    for student in (cast.ada, cast.ben):
        room.enter(fall.id, window.id, student.id)
    guard.post(f"{home(fall, window)}/admit", {"count": 2, **REASON})
    body = {"student_number": cast.ada.number, **REASON}
    answer = guard.post(f"{home(fall, window)}/expire", body)
    assert (answer.status_code, answer.json["data"]["inside"]) == (200, 1)
    assert room.extend_stay(fall.id, window.id, cast.ada.id) is None
    assert kinds(fall, window, cast.ada, cast.ben) == ["none", "called"]
    for _ in "12":  # under one key
        again = guard.post(f"{home(fall, window)}/expire", body, Idempotency_Key="ada-again")
        assert again.status_code == 409
    (entry,) = entries("room.expire")
    assert f"student:{cast.ada.id}" in entry.subject
    room.enter(fall.id, window.id, cast.ada.id)
    assert kinds(fall, window, cast.ada) == ["waiting"]


def test_an_access_that_ended_under_a_key_ends_once(fall: Any, window: Any, cast: Cast) -> None:
    for _ in "12":  # the second is a new visit, which the repeated call must not end
        room.enter(fall.id, window.id, cast.ada.id)
        room.let_in(fall.id, window.id, 1, "let-in-" + secrets.token_hex(8))
        assert room.expire(fall.id, window.id, cast.ada.id, "key")
    assert kinds(fall, window, cast.ada) == ["called"]


def test_a_request_of_other_content_is_no_try_of_the_first_one(
    guard: Caller, fall: Any, window: Any, cast: Cast
) -> None:
    room.enter(fall.id, window.id, cast.ada.id)
    statuses = [
        guard.post(
            f"{home(fall, window)}/admit", {"count": n, **REASON}, Idempotency_Key="same-key"
        )
        for n in (1, 2, 3)
    ]
    assert [each.status_code for each in statuses] == [200, 400, 400]
    with transaction() as session:
        assert session.scalars(select(ApiRequest.tries)).all() == [1]


def test_a_reset_empties_the_room_and_keeps_its_limits(
    guard: Caller, fall: Any, window: Any, cast: Cast
) -> None:
    room.enter(fall.id, window.id, cast.ada.id)
    guard.post(f"{home(fall, window)}/admit", {"count": 1, **REASON})
    room.enter(fall.id, window.id, cast.ben.id)
    data = guard.post(f"{home(fall, window)}/reset", REASON).json["data"]
    assert (data["waited"], data["were_inside"]) == (1, 1)
    assert (data["waiting"], data["inside"], data["at_once"]) == (0, 0, 100)
    assert kinds(fall, window, cast.ada, cast.ben) == ["none", "none"]
    room.enter(fall.id, window.id, cast.ben.id)
    assert room.queue_entry(fall.id, window.id, cast.ben.id).position == 1
    assert room.reset(fall.id, window.id, "key") == room.reset(fall.id, window.id, "key")


def test_no_one_is_let_into_a_window_that_is_not_open(
    guard: Caller, fall: Any, backend: Backend
) -> None:
    coming = builders.a_coming_window(fall)
    answer = guard.post(f"{home(fall, coming)}/admit", {"count": 1, **REASON})
    assert answer.status_code == 409
    assert backend


def test_an_unknown_window_or_student_is_named(guard: Caller, fall: Any, window: Any) -> None:
    unknown = guard.post(f"/admin/semesters/{fall.id}/windows/99999/waiting-room/pause", REASON)
    assert unknown.status_code == 404
    body = {"student_number": "no such", **REASON}
    answer = guard.post(f"{home(fall, window)}/expire", body)
    assert [each["pointer"] for each in answer.json["errors"]] == ["/student_number"]
