"""Programs create, move, extend, close and cancel selection windows with a service token."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import update

from portal.backend import backend
from portal.core.db import transaction
from portal.people.models import ApiRequest
from portal.windows import service
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.api.callers import Caller, program

REASON = {"reason": "The calendar of the academic senate."}


@pytest.fixture
def fall(cast: Cast) -> Any:  # noqa: ARG001
    """Return a term without a window."""
    return builders.a_term()


@pytest.fixture
def calendar(app: Flask, cast: Cast) -> Caller:  # noqa: ARG001
    return program(app, "windows", name="Academic calendar")


def at(minutes: float) -> str:
    return (datetime.now(UTC) + timedelta(minutes=minutes)).isoformat(timespec="milliseconds")


def new(name: str = "Seniors first", **more: Any) -> dict[str, Any]:
    return {"name": name, "opens_at": at(10), "closes_at": at(70), **REASON, **more}


def home(term: Any) -> str:
    return f"/admin/semesters/{term.id}/windows"


def test_a_program_creates_a_window_for_a_cohort(calendar: Caller, fall: Any, cast: Cast) -> None:
    numbers = [cast.ada.number]
    answer = calendar.post(home(fall), new(cohort={"students": numbers}))
    assert answer.status_code == 201
    data = answer.json["data"]
    found = service.find_window(fall.id, data["window_id"])
    assert found
    assert (found.name, found.state) == ("Seniors first", "scheduled")
    assert found.cohort == data["cohort"] == {"students": numbers}


def test_the_audit_trail_names_the_token_and_the_reason(calendar: Caller, fall: Any) -> None:
    calendar.post(home(fall), new())
    (entry,) = entries("window.schedule")
    assert (entry.who, entry.reason) == ("Academic calendar", REASON["reason"])


def test_a_window_is_moved_extended_and_closed(calendar: Caller, fall: Any) -> None:
    coming = builders.a_coming_window(fall)
    moved = {"opens_at": at(-1), "closes_at": at(30), **REASON}
    assert calendar.post(f"{home(fall)}/{coming.id}/move", moved).status_code == 200
    longer = {"closes_at": at(90), **REASON}
    answer = calendar.post(f"{home(fall)}/{coming.id}/extend", longer)
    assert datetime.fromisoformat(answer.json["data"]["closes_at"]) == datetime.fromisoformat(
        longer["closes_at"]
    )
    answer = calendar.post(f"{home(fall)}/{coming.id}/close", REASON)
    assert answer.json["data"]["state"] == "closed"
    found = service.find_window(fall.id, coming.id)
    assert found
    assert found.state == "closed"


def test_a_window_that_has_not_opened_is_canceled(calendar: Caller, fall: Any) -> None:
    coming = builders.a_coming_window(fall)
    answer = calendar.post(f"{home(fall)}/{coming.id}/cancel", REASON)
    assert answer.json["data"]["state"] == "canceled"


def test_a_refusal_says_why_and_changes_nothing(calendar: Caller, fall: Any) -> None:
    coming = builders.a_coming_window(fall)
    answer = calendar.post(f"{home(fall)}/{coming.id}/close", REASON)
    assert (answer.status_code, answer.json["type"]) == (409, "/api/docs#refused")
    assert "has not started yet" in answer.json["detail"]
    assert not entries("window.close")


def test_a_refused_change_is_refused_again_under_its_key(calendar: Caller, fall: Any) -> None:
    path = f"{home(fall)}/{builders.an_open_window(fall).id}/close"
    assert calendar.post(path, REASON).status_code == 200
    for _ in "12":
        again = calendar.post(path, REASON, Idempotency_Key="close-it-again")
        assert again.status_code == 409
    assert len(entries("window.close")) == 1


def test_one_key_makes_one_window_however_often_it_is_sent(calendar: Caller, fall: Any) -> None:
    body, key = new(), {"Idempotency_Key": "fall-seniors"}
    first, again = (calendar.post(home(fall), body, **key) for _ in range(2))
    assert first.json == again.json
    assert again.headers["Idempotency-Replayed"] == "true"
    assert len(windows_of(fall)) == len(entries("window.schedule")) == 1
    other = calendar.post(home(fall), new("Juniors"), **key)
    assert (other.status_code, other.json["type"]) == (400, "/api/docs#key-reused")


@pytest.mark.parametrize("action", ["create", "extend", "close"])
def test_a_try_that_died_before_its_answer_is_finished_by_the_next(
    calendar: Caller, fall: Any, action: str
) -> None:
    window = builders.an_open_window(fall)
    path = home(fall) if action == "create" else f"{home(fall)}/{window.id}/{action}"
    body = {"create": new(), "extend": {"closes_at": at(600), **REASON}, "close": REASON}[action]
    before = len(windows_of(fall))
    first = calendar.post(path, body, Idempotency_Key="key-of-the-try")
    with transaction() as session:  # as after kill -9 between the change and its answer
        session.execute(update(ApiRequest).values(answer=None))
    again = calendar.post(path, body, Idempotency_Key="key-of-the-try")
    assert (again.status_code, again.json) == (first.status_code, first.json)
    assert len(windows_of(fall)) == before + (action == "create")


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"closes_at": at(-5)}, "/closes_at"),
        ({"opens_at": "2080-01-01T00:00:00Z", "closes_at": "2080-01-02T00:00:00Z"}, "/opens_at"),
        ({"opens_at": "2030-01-01T00:00:00"}, "/opens_at"),
        ({"name": " "}, "/name"),
        ({"reason": " "}, "/reason"),
        ({"cohort": {"years": ["Nobody"]}}, "/cohort/years"),
        ({"cohort": {"students": ["no such"]}}, "/cohort/students"),
    ],
)
def test_a_body_that_makes_no_sense_is_refused_by_field(
    calendar: Caller, fall: Any, change: dict[str, Any], pointer: str
) -> None:
    answer = calendar.post(home(fall), new(**change))
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json["errors"]] == [pointer]
    assert not windows_of(fall)


def test_another_scope_or_a_person_is_refused(
    app: Flask, fall: Any, admin: Caller, ada: Caller
) -> None:
    other = program(app, "waiting-room", "read-models", "registrations", name="Other")
    answer = other.post(home(fall), new())
    assert (answer.status_code, answer.json["scope"]) == (403, "windows")
    assert admin.post(home(fall), new()).status_code == 403
    assert ada.post(home(fall), new()).status_code == 403


def windows_of(term: Any) -> list[Any]:
    return list(backend().ledger.windows(term.id))
