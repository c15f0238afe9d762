"""GET and POST /admin/terms/<t>/windows/<w>/room, …/room/<action>, GET …/room/figures."""

from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import Backend
from portal.backend import backend as connected
from portal.catalog.models import Term
from portal.ledger.types import WindowView
from portal.waiting_room import room
from portal.waiting_room.wait_estimates import admitted_per_minute
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:  # noqa: ARG001
    return builders.a_term()


@pytest.fixture
def window(term: Term) -> WindowView:
    return builders.an_open_window(term)


WHY = "The rush is over."


def address(window: WindowView, term: Term, more: str = "") -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room{more}"


def knobs(per_minute: object = 60, at_once: object = 5) -> dict[str, Any]:
    return {"per_minute": per_minute, "at_once": at_once, "reason": WHY}


def seen(admin: FlaskClient, page: str) -> str:
    """Return the hidden fields with the limits that the form showed."""
    return admin.get(page).text.split('name="seen" value="')[1].split('"')[0]


def press(admin: FlaskClient, page: str, data: dict[str, Any] | None = None) -> TestResponse:
    """Open the page or confirmation, and press its button."""
    return admin.post(page, data=(data or {"reason": WHY}) | {"seen": seen(admin, page)})


def test_windows_page_links_to_the_waiting_room(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    assert address(window, term) in admin.get("/admin").text


def test_page_shows_the_state_of_the_room(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 600, 1, off=False)
    for student in range(1, 4):
        room.enter(term.id, window.id, student)
    for more in ("", "/figures"):
        page = " ".join(admin.get(address(window, term, more)).text.split())
        assert '<dt>Waiting</dt><dd class="num">2</dd>' in page
        assert '<dt>Admitted</dt><dd class="num">1</dd>' in page
        assert "maximum 1 at once" in page
        assert "3 arrived so far" in page
        assert "Estimated wait for the last student" in page


def test_page_shows_how_many_estimates_were_right(
    admin: FlaskClient, term: Term, window: WindowView, backend: Backend
) -> None:
    assert "no data yet" in admin.get(address(window, term)).text
    backend.redis.hset(f"{{t:{term.id}}}:room:{window.id}", mapping={"right": 3, "wrong": 1})
    page = admin.get(address(window, term)).text
    assert "75%" in page
    assert "of 4 estimates shown" in page


def test_limits_apply_at_once(admin: FlaskClient, term: Term, window: WindowView) -> None:
    room.set_limits(term.id, window.id, 0, 1, off=False)
    for student in range(1, 4):
        room.enter(term.id, window.id, student)
    answer = press(admin, address(window, term), knobs(600, 2))
    assert (answer.status_code, answer.location) == (303, address(window, term))
    state = room.state(term.id, window.id)
    assert (state.per_minute, state.at_once, state.inside) == (600, 2, 2)


def test_queue_can_be_paused_and_resumed(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    press(admin, address(window, term), knobs(6000, 5))
    press(admin, address(window, term, "/pause"))
    assert room.enter(term.id, window.id, 1).kind == "waiting"
    assert "Paused" in admin.get(address(window, term)).text
    assert "6,000 per minute, 5 at once" in admin.get(address(window, term, "/resume")).text
    press(admin, address(window, term, "/resume"))
    assert room.queue_entry(term.id, window.id, 1).kind == "called"
    assert room.state(term.id, window.id).per_minute == 6000


def test_queue_that_never_ran_resumes_with_the_settings(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    room.set_limits(term.id, window.id, 0, 5, off=False)
    press(admin, address(window, term, "/resume"))
    usual = connected().settings.room
    assert usual
    assert room.state(term.id, window.id).per_minute == usual[0]


@pytest.mark.parametrize(
    ("action", "effect"),
    [
        ("pause", "No more students are admitted."),
        ("off", "All waiting and arriving students are admitted at once."),
    ],
)
def test_pause_and_switch_need_confirmation_and_a_reason(
    admin: FlaskClient, term: Term, window: WindowView, action: str, effect: str
) -> None:
    press(admin, address(window, term), knobs(60, 5))
    question = address(window, term, f"/{action}")
    assert question in admin.get(address(window, term, "/figures")).text
    page = " ".join(admin.get(question).text.split())
    assert "60 per minute, 5 at once" in page
    assert effect in page
    answer = press(admin, question, {"reason": "  "})
    assert answer.status_code == 422
    assert "Enter a reason" in answer.text
    state = room.state(term.id, window.id)
    assert (state.per_minute, state.off) == (60, False)


def test_limits_pause_no_room(admin: FlaskClient, term: Term, window: WindowView) -> None:
    press(admin, address(window, term), knobs(60, 5))
    answer = press(admin, address(window, term), knobs(0, 7))
    assert answer.status_code == 422
    assert "use “Pause the waiting room”" in answer.text
    press(admin, address(window, term, "/off"))
    assert "saving limits switches it on" in admin.get(address(window, term)).text
    assert press(admin, address(window, term), knobs(0, 7)).status_code == 422
    state = room.state(term.id, window.id)
    assert (state.per_minute, state.at_once, state.off) == (60, 5, True)


def test_limits_of_a_paused_room_say_what_resumes_it(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    resumes = "saving a number above 0 resumes it"
    assert resumes not in admin.get(address(window, term)).text
    press(admin, address(window, term, "/pause"))
    assert resumes in admin.get(address(window, term)).text
    assert press(admin, address(window, term), knobs(0, 7)).status_code == 303
    state = room.state(term.id, window.id)
    assert (state.per_minute, state.at_once) == (0, 7)
    press(admin, address(window, term), knobs(60, 7))
    assert room.state(term.id, window.id).per_minute == 60


def test_action_without_effect_is_not_offered(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    for action in ("on", "resume"):
        answer = admin.get(address(window, term, f"/{action}"))
        assert answer.status_code == 409
        assert 'name="seen"' not in answer.text
    assert admin.get(address(window, term, "/explode")).status_code == 404


def test_switched_off_room_admits_everyone_and_keeps_its_limits(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    press(admin, address(window, term), knobs(60, 1))
    press(admin, address(window, term, "/off"))
    kinds = {room.enter(term.id, window.id, student).kind for student in range(1, 9)}
    assert kinds == {"called"}
    state = room.state(term.id, window.id)
    assert (state.off, state.per_minute, state.at_once) == (True, 60, 1)
    page = admin.get(address(window, term)).text
    assert "Switched off" in page
    assert address(window, term, "/off") not in page
    press(admin, address(window, term, "/on"))
    state = room.state(term.id, window.id)
    assert (state.off, state.per_minute, state.at_once) == (False, 60, 1)


def test_change_is_audited_with_before_and_after(
    admin: FlaskClient, term: Term, window: WindowView, cast: Cast
) -> None:
    press(admin, address(window, term), knobs(60, 5))
    press(admin, address(window, term, "/off"), {"reason": "Nobody comes."})
    [first, entry] = entries()
    assert (entry.account_id, entry.action) == (cast.max.id, "room.limits")
    assert entry.subject == f"term:{term.id} window:{window.id}"
    assert entry.before == {"per_minute": 60, "at_once": 5, "off": False}
    assert entry.after == {"per_minute": 60, "at_once": 5, "off": True}
    assert (first.reason, entry.reason) == (WHY, "Nobody comes.")


def test_two_admins_do_not_overwrite_each_other(
    app: Flask, admin: FlaskClient, term: Term, window: WindowView
) -> None:
    page, other = address(window, term), browser_of(app, "max")
    before = seen(other, page)
    press(admin, page, knobs(60, 5))
    answer = other.post(page, data=knobs(6000, 5) | {"seen": before})
    assert answer.status_code == 409
    assert "Someone else has changed the limits" in answer.text
    assert 'value="6000"' in answer.text  # the input is kept
    assert "maximum 60" in answer.text
    state = room.state(term.id, window.id)
    assert (state.per_minute, state.at_once) == (60, 5)
    assert len(entries()) == 1
    again = answer.text.split('name="seen" value="')[1].split('"')[0]
    other.post(page, data=knobs(6000, 5) | {"seen": again})
    assert room.state(term.id, window.id).per_minute == 6000


def test_outdated_confirmation_does_nothing(
    app: Flask, admin: FlaskClient, term: Term, window: WindowView
) -> None:
    question, other = address(window, term, "/off"), browser_of(app, "max")
    before = seen(other, question)
    press(admin, address(window, term), knobs(60, 5))
    answer = other.post(question, data={"seen": before, "reason": WHY})
    assert answer.status_code == 409
    assert "The limits have changed" in answer.text
    assert not room.state(term.id, window.id).off
    assert len(entries()) == 1


def test_form_sent_twice_is_done_and_audited_once(
    admin: FlaskClient, term: Term, window: WindowView
) -> None:
    for more, given in (("", knobs(60, 5)), ("/pause", {"reason": WHY}), ("/off", {"reason": WHY})):
        page = address(window, term, more)
        form, before = given | {"seen": seen(admin, page)}, len(entries())
        assert [admin.post(page, data=form).status_code for _ in range(2)] == [303, 303]
        assert len(entries()) == before + 1


@pytest.mark.parametrize("wrong", ["", "60", "60 5 x", None])
def test_invalid_form_is_a_400(
    admin: FlaskClient, term: Term, window: WindowView, wrong: str | None
) -> None:
    form = {name: each for name, each in (knobs() | {"seen": wrong}).items() if each is not None}
    for more in ("", "/pause"):
        assert admin.post(address(window, term, more), data=form).status_code == 400


WRONG = {
    ("", ""): {"per_minute", "at_once"},
    ("many", "5"): {"per_minute"},
    ("-1", "5"): {"per_minute"},
    ("6.5", "5"): {"per_minute"},
    ("60", "0"): {"at_once"},
    ("60", "1000001"): {"at_once"},
    ("60", "9" * 5000): {"at_once"},
    ("٣", "²"): {"per_minute", "at_once"},
}


@pytest.mark.parametrize("given", WRONG)
def test_errors_are_shown_by_field_and_nothing_changes(
    admin: FlaskClient, term: Term, window: WindowView, given: tuple[str, str]
) -> None:
    before = room.state(term.id, window.id)
    answer = admin.post(address(window, term), data=knobs(*given))
    assert answer.status_code == 422
    named = {name for name in ("per_minute", "at_once") if f'id="{name}-error"' in answer.text}
    assert named == WRONG[given]
    assert "to 1,000,000." in answer.text
    after = room.state(term.id, window.id)
    assert (after.per_minute, after.at_once) == (before.per_minute, before.at_once)
    assert entries() == []


def test_limits_need_a_reason(admin: FlaskClient, term: Term, window: WindowView) -> None:
    answer = press(admin, address(window, term), knobs(60, 5) | {"reason": ""})
    assert answer.status_code == 422
    assert 'id="reason-error"' in answer.text
    assert entries() == []


def test_unknown_window_has_no_room(admin: FlaskClient, term: Term) -> None:
    for more in ("", "/figures", "/pause"):
        assert admin.get(f"/admin/terms/{term.id}/windows/9/room{more}").status_code == 404
    assert admin.post(f"/admin/terms/{term.id}/windows/9/room", data=knobs()).status_code == 404


def test_page_without_waiting_rooms_has_no_controls(
    admin: FlaskClient, term: Term, window: WindowView, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connected(), "settings", replace(connected().settings, room=None))
    page = admin.get(address(window, term)).text
    assert admin.post(address(window, term), data=knobs()).status_code == 400
    assert admin.get(address(window, term, "/pause")).status_code == 404
    assert "Waiting rooms are turned off." in page
    assert "Save limits" not in page


@pytest.mark.parametrize(
    ("seconds", "pace", "expected"),
    [(3, {0: 100}, 200), (45, {0: 30, 30: 60}, 120), (75, {0: 900, 30: 60, 60: 30}, 120)],
)
def test_pace_covers_the_last_half_or_whole_minute(
    term: Term, window: WindowView, seconds: int, pace: dict[int, int], expected: int
) -> None:
    opens = 3_000_000
    moved = tuple((opens + slot * 1000, count) for slot, count in pace.items())
    state = replace(room.state(term.id, window.id), opens=opens, pace=moved)
    assert admitted_per_minute(replace(state, at=opens + seconds * 1000)) == expected
