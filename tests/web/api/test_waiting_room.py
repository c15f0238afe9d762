"""POST and GET /api/v1/waiting-room/<window>/requests, and the access token."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask

from portal.backend import backend as parts
from portal.registration import limits
from portal.waiting_room import access_tokens, room
from tests import cast as builders
from tests.cast import Cast
from tests.protection.captcha.solving import solved
from tests.recorder.processes import wait_for
from tests.web.api.callers import Caller, caller
from tests.web.pages import held

SOON = 0.02  # minutes


@pytest.fixture
def unproven(guarded: Flask, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    """Require no captcha."""
    monkeypatch.setattr(parts(), "settings", replace(parts().settings, captcha="off"))


@pytest.fixture
def fall(cast: Cast) -> Any:  # noqa: ARG001
    """Return a term without a window."""
    return builders.a_term()


def line(window: Any) -> str:
    return f"/waiting-room/{window.id}/requests"


def known(window: Any) -> Any:
    """Return the window after every cache has it."""
    limits.forget_windows()
    return window


def full(term: Any, window: Any) -> None:
    """Set the limits so that no one is admitted."""
    room.set_limits(term.id, window.id, 0, 100, off=False)


@pytest.mark.usefixtures("unproven")
def test_request_id_comes_at_once_and_the_position_after_the_draw(app: Flask, fall: Any) -> None:
    window = known(builders.a_coming_window(fall, minutes=30))
    ada = caller(app, "ada")
    answer = ada.post(line(window), {})
    data = answer.json["data"]
    assert (answer.status_code, data["status"]) == (202, "early")
    assert (data["position"], data["ahead"], data["access_token"]) == (None, None, None)
    assert answer.headers["Retry-After"] == str(data["poll_after"])
    assert answer.location == f"/api/v1{line(window)}/{data['request_id']}"
    polled = ada.get(f"{line(window)}/{data['request_id']}")
    assert (polled.status_code, polled.json["data"]["status"]) == (202, "early")
    again = ada.post(line(window), {}).json["data"]
    assert again["request_id"] == data["request_id"]


@pytest.mark.usefixtures("unproven")
def test_waiting_student_gets_the_position_and_admitted_student_a_token(
    app: Flask, fall: Any, cast: Cast
) -> None:
    window = known(builders.an_open_window(fall))
    section = builders.a_section(builders.a_course(), fall)
    full(fall, window)
    ben, ada = caller(app, "ben"), caller(app, "ada")
    ben.post(line(window), {})
    requested = ada.post(line(window), {}).json["data"]["request_id"]
    waiting = ada.get(f"{line(window)}/{requested}")
    data = waiting.json["data"]
    assert (waiting.status_code, data["status"]) == (200, "waiting")
    assert (data["position"], data["ahead"], data["access_token"]) == (2, 1, None)
    assert (data["wait"]["most"], data["paused"]) == (None, True)
    body = {"student_id": cast.ada.id, "semester_id": fall.id, "section_ids": [section.id]}
    assert ada.post("/register", body).status_code == 403

    room.set_limits(fall.id, window.id, 6000, 100, off=False)
    called = ada.get(f"{line(window)}/{requested}").json["data"]
    assert (called["status"], called["wait"]) == ("called", {"least": 0, "most": 0})
    token = called["access_token"]
    assert ada.post("/register", body, Fairseat_Pass=token).status_code == 200
    assert held(fall, cast.ada) == [section.id]


@pytest.mark.usefixtures("unproven")
def test_position_counts_down_and_a_pause_is_reported(app: Flask, fall: Any) -> None:
    window = known(builders.an_open_window(fall))
    full(fall, window)
    ben, ada = caller(app, "ben"), caller(app, "ada")
    ben.post(line(window), {})
    requested = ada.post(line(window), {}).json["data"]

    def stands() -> tuple[Any, ...]:
        data = ada.get(f"{line(window)}/{requested['request_id']}").json["data"]
        return tuple(data[name] for name in ("status", "position", "ahead", "paused"))

    room.set_limits(fall.id, window.id, 0, 100, off=False)
    assert stands() == ("waiting", 2, 1, True)
    room.set_limits(fall.id, window.id, 6000, 0, off=False)
    assert stands() == ("waiting", 2, 1, False)
    room.set_limits(fall.id, window.id, 6000, 1, off=False)
    assert stands() == ("waiting", 1, 0, False)
    room.set_limits(fall.id, window.id, 6000, 2, off=False)
    assert stands() == ("called", 0, None, False)


@pytest.mark.usefixtures("unproven")
def test_queue_request_belongs_to_its_student(app: Flask, fall: Any) -> None:
    window = known(builders.an_open_window(fall))
    full(fall, window)
    ada, ben = caller(app, "ada"), caller(app, "ben")
    requested = ada.post(line(window), {}).json["data"]["request_id"]
    assert ben.get(f"{line(window)}/{requested}").status_code == 404
    ben.post(line(window), {})
    assert ben.get(f"{line(window)}/{requested}").status_code == 404
    assert ada.get(f"{line(window)}/{'0' * 32}").status_code == 404
    assert ada.get(f"{line(window)}/short").status_code == 404


@pytest.mark.usefixtures("unproven")
def test_access_token_is_for_one_term_and_student(app: Flask, fall: Any, cast: Cast) -> None:
    window = known(builders.an_open_window(fall))
    spring = builders.a_term("Spring 2031")
    builders.an_open_window(spring)
    section = builders.a_section(builders.a_course(), spring)
    ada, ben = caller(app, "ada"), caller(app, "ben")
    token = _token(ada, window)
    body = {"student_id": cast.ada.id, "semester_id": spring.id, "section_ids": [section.id]}
    answer = ada.post("/register", body, Fairseat_Pass=token)
    assert (answer.status_code, answer.headers["Fairseat-Gate"]) == (403, "pass")
    stolen = ben.post("/register", body | {"student_id": cast.ben.id}, Fairseat_Pass=token)
    assert (stolen.status_code, stolen.headers["Fairseat-Gate"]) == (403, "pass")
    assert held(spring, cast.ada) == []


@pytest.mark.usefixtures("guarded")
def test_refusal_without_an_access_token_links_to_the_waiting_room(app: Flask, cast: Cast) -> None:
    for sent in ({}, {"Fairseat_Pass": "a-made-up-one"}):
        answer = caller(app, "ada").post("/register", {"student_id": cast.ada.id}, **sent)
        assert (answer.status_code, answer.mimetype) == (403, "application/problem+json")
        assert answer.json["type"] == "/api/docs#no-pass"
        assert "POST /api/v1/waiting-room/{window_id}/requests" in answer.json["detail"]


@pytest.mark.usefixtures("unproven")
def test_access_token_is_for_one_window(app: Flask, fall: Any, cast: Cast) -> None:
    first, second = builders.an_open_window(fall), builders.an_open_window(fall)
    known(first)
    section = builders.a_section(builders.a_course(), fall)
    ada = caller(app, "ada")
    token = _token(ada, first)
    parts().ledger.close_window(fall.id, first.id, "tests")
    limits.forget_windows()
    body = {"student_id": cast.ada.id, "semester_id": fall.id, "section_ids": [section.id]}
    answer = ada.post("/register", body, Fairseat_Pass=token)
    [result] = answer.json["data"]["results"]
    assert {each["code"] for each in result["reasons"]} & {"window_ended", "window_unscheduled"}
    assert ada.post("/register", body, Fairseat_Pass=_token(ada, second)).status_code == 200


@pytest.mark.usefixtures("unproven")
def test_drop_needs_no_access_token(app: Flask, fall: Any, cast: Cast) -> None:
    window = known(builders.an_open_window(fall))
    section = builders.a_section(builders.a_course(), fall)
    ada = caller(app, "ada")
    body = {"student_id": cast.ada.id, "semester_id": fall.id, "section_ids": [section.id]}
    ada.post("/register", body, Fairseat_Pass=_token(ada, window))
    gone = {"student_id": cast.ada.id, "section_id": section.id}
    assert ada.post("/register/drop", gone).status_code == 200


def test_captcha_proof_is_needed_once_per_place_and_valid_once(guarded: Flask, fall: Any) -> None:
    window = known(builders.a_coming_window(fall))
    ada, ben = caller(guarded, "ada"), caller(guarded, "ben")
    for body in ({}, {"captcha": "guessed"}):
        refused = ada.post(line(window), body)
        assert (refused.status_code, refused.json["type"]) == (422, "/api/docs#captcha")
        assert refused.json["errors"][0]["pointer"] == "/captcha"
    data = ada.get("/captcha").json["data"]
    assert data["needed"] is True
    proof = {"captcha": solved(data["challenge"]).to_base64()}
    assert ben.post(line(window), proof).status_code == 422
    assert ada.post(line(window), proof).status_code == 202
    assert ada.post(line(window), {}).status_code == 202
    room.leave(fall.id, window.id, _student(ada))
    assert ada.post(line(window), proof).status_code == 422


@pytest.mark.usefixtures("unproven")
def test_windows_of_other_cohorts_are_not_found(app: Flask, fall: Any) -> None:
    seniors = known(builders.an_open_window(fall, cohort={"years": ["Senior"]}))
    ada = caller(app, "ada")
    assert ada.post(line(seniors), {}).status_code == 404
    assert ada.post("/waiting-room/999999/requests", {}).status_code == 404


@pytest.mark.usefixtures("unproven")
def test_ended_window_is_a_conflict(app: Flask, fall: Any) -> None:
    window = known(builders.an_ended_window(fall))
    answer = caller(app, "ada").post(line(window), {})
    assert (answer.status_code, answer.json["type"]) == (409, "/api/docs#window-ended")


@pytest.mark.usefixtures("unproven")
def test_everyone_is_admitted_at_the_opening_without_a_waiting_room(
    app: Flask, fall: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts(), "settings", replace(parts().settings, room=None))
    window = known(builders.a_coming_window(fall, minutes=SOON))
    ada = caller(app, "ada")
    early = ada.post(line(window), {}).json["data"]
    assert early["status"] == "early"
    where = f"{line(window)}/{early['request_id']}"
    wait_for(lambda: ada.get(where).status_code == 200)
    data = ada.get(where).json["data"]
    assert (data["status"], data["position"]) == ("called", 0)
    with app.app_context():
        assert access_tokens.decode(data["access_token"])


def _token(caller: Caller, window: Any) -> str:
    """Return an access token of a window with an empty queue."""
    requested = caller.post(line(window), {}).json["data"]
    assert requested["status"] == "called"
    return str(requested["access_token"])


def _student(caller: Caller) -> int:
    return int(caller.get("/me").json["student_id"])


@pytest.mark.usefixtures("unproven")
def test_read_only_token_gets_no_access_token(app: Flask, fall: Any, cast: Cast) -> None:
    window = known(builders.an_open_window(fall))
    whole, reading = caller(app, "ada"), caller(app, "ada", ("read",))
    requested = whole.post(line(window), {}).json["data"]["request_id"]
    before = room.queue_entry(fall.id, window.id, cast.ada.id).ends
    for answer in (reading.post(line(window), {}), reading.get(f"{line(window)}/{requested}")):
        assert (answer.status_code, answer.json["scope"]) == (403, "register")
        assert "access_token" not in answer.text
    assert room.queue_entry(fall.id, window.id, cast.ada.id).ends == before
    registering = caller(app, "ada", ("register",))
    assert registering.get(f"{line(window)}/{requested}").json["data"]["access_token"]
