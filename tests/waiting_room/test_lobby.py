"""The waiting room on pages: the draw, a queue position, a visit; nothing without a queue."""

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.lobby import come, facts, look, shut, strip
from tests.web.pages import DIALOG, HTMX, words
from tests.web.visitors import browser_of


def test_lobby_asks_for_the_captcha_first(guarded: Flask, term: Any) -> None:
    builders.a_coming_window(term)
    assert "data-captcha=" in strip(look(browser_of(guarded, "ada"), term))


def test_lobby_joins_the_queue_after_the_captcha(ada: FlaskClient, term: Any) -> None:
    builders.a_coming_window(term)
    below = strip(look(ada, term))
    assert 'hx-trigger="load,' in below
    assert "Join the queue" in below


def test_early_student_is_in_the_draw(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    come(ada, term)
    page = look(ada, term)
    assert "You’re in the draw for the first positions." in strip(page)
    assert f"/terms/{term.id}/windows/{window.id}/order" in strip(page)
    data = facts(page)
    assert (data["phase"], data["next"], data["then"]) == ("before", "line", "Drawing the order…")
    assert data["room"] == str(window.id)
    assert int(data["poll"]) > 0


def test_few_pages_poll_sooner_at_the_opening_than_many(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    come(ada, term)
    assert facts(look(ada, term))["asks"] == "500 510"
    for student in range(10_000, 10_400):
        room.enter(term.id, window.id, student)
    assert facts(look(ada, term))["asks"] == "500 4000"


def test_page_outside_the_draw_reloads_at_zero(guarded: Flask, term: Any) -> None:
    builders.a_coming_window(term)
    data = facts(look(browser_of(guarded, "ada"), term))
    assert (data["next"], data["then"]) == ("open", "Add your classes")


def test_open_window_without_a_queue_shows_the_list(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    page = look(ada, term)
    assert facts(page)["phase"] == "open"
    assert not strip(page).strip()
    assert "data-kept" not in page


def test_waiting_student_sees_position_students_ahead_and_wait(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    come(ada, term)
    room.set_limits(term.id, window.id, 6000, 1, off=False)
    come(ada, term)
    come(ben, term)
    page = look(ben, term)
    assert facts(page)["phase"] == "line"
    assert (facts(page)["number"], facts(page)["ahead"]) == ("2", "0")
    text = words(page)
    assert "You are number 1 in the queue" in text  # of the waiting students; two came in all
    assert "You are next." in text
    assert "Leave the queue" in strip(page)


def test_no_wait_is_shown_while_the_queue_stands_still(ada: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term))
    come(ada, term)
    assert "not known yet" in words(look(ada, term, "/room"))


def test_first_shown_range_is_stored(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    shut(term, window, inside=1)
    come(ada, term)
    come(ben, term)
    first = look(ben, term)
    stored = backend.redis.hgetall(f"{{t:{term.id}}}:room:{window.id}:estimates")
    look(ben, term)
    assert "data-number" in first
    assert list(stored) == [room.queue_entry(term.id, window.id, cast.ben.id).request.encode()]
    assert stored == backend.redis.hgetall(f"{{t:{term.id}}}:room:{window.id}:estimates")


@pytest.mark.parametrize("page", ["", "/mine", "/plan", "/room"])
def test_new_student_queues_behind_the_others(
    ada: FlaskClient, ben: FlaskClient, term: Any, page: str
) -> None:
    shut(term, builders.an_open_window(term))
    look(ada, term, page)
    text = look(ben, term, page)
    assert facts(text)["phase"] == "line"
    assert "You are number 2 in the queue" in words(text)
    assert "1 person is ahead of you." in words(text)


def test_new_student_is_next_if_the_room_is_full(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    shut(term, builders.an_open_window(term), inside=1)
    come(ada, term)
    text = look(ben, term)
    assert facts(text)["phase"] == "line"
    assert "You are number 1 in the queue" in words(text)
    assert "You are next." in words(text)


def test_new_student_queues_if_the_rate_limit_is_reached(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 1, 100, off=False)
    come(ada, term)
    assert "You are number 1 in the queue" in words(look(ben, term))


@pytest.mark.parametrize("purpose", ["Sec-Purpose", "Purpose"])
def test_prefetched_page_joins_no_queue(
    ada: FlaskClient, term: Any, cast: Cast, purpose: str
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    ada.get(f"/terms/{term.id}", headers={purpose: "prefetch;prerender"})
    ada.head(f"/terms/{term.id}")
    assert room.queue_entry(term.id, window.id, cast.ada.id).kind == "none"
    assert 'hx-trigger="load,' in strip(
        ada.get(f"/terms/{term.id}", headers={purpose: "prefetch"}).text
    )


def test_robot_joins_no_queue_by_loading_the_page(guarded: Flask, term: Any, cast: Cast) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    look(browser_of(guarded, "ada"), term)
    assert room.queue_entry(term.id, window.id, cast.ada.id).kind == "none"


def test_loading_the_page_does_not_rejoin_after_leaving(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    look(ben, term)
    look(ada, term)
    ada.post(f"/terms/{term.id}/room/leave")
    text = look(ada, term)
    assert "Other students are waiting." in strip(text)
    assert "You left the queue" in words(text)
    [form] = re.findall(r'<form action="/terms/\d+/room".*?</form>', text, re.DOTALL)
    assert "Join the queue" in form
    assert 'hx-trigger="load' not in form
    assert room.queue_entry(term.id, window.id, cast.ada.id).kind == "none"


def test_position_counts_down_as_others_are_admitted(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    for student in (1000, 1001):
        room.enter(term.id, window.id, student)
    look(ada, term)
    assert "You are number 4 in the queue" in words(look(ben, term))
    shut(term, window, inside=1)
    assert "You are number 3 in the queue" in words(look(ben, term))
    shut(term, window, inside=3)
    assert "You are number 1 in the queue" in words(look(ben, term))
    assert "before you" not in words(look(ben, term))


@pytest.mark.parametrize("page", ["", "/mine", "/plan", "/room"])
def test_every_page_says_that_the_queue_is_paused_and_the_place_kept(
    ada: FlaskClient, ben: FlaskClient, term: Any, page: str
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    look(ada, term)
    text = words(look(ben, term, page))
    assert "You are number 2 in the queue" in text
    assert "The registrar has paused the queue. You keep your position." in text
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    text = words(look(ben, term, page))
    assert "has paused" not in text
    assert "You are number 2 in the queue" in text


def test_queued_form_says_that_the_queue_is_paused(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    form = words(ada.get(f"/terms/{term.id}/sections/{section.id}/pick", headers=DIALOG).text)
    assert "You are number 1 in the queue" in form
    assert "The registrar has paused the queue. You keep your position." in form


def test_lobby_says_that_the_queue_is_paused(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    come(ada, term)
    assert "The registrar has paused the queue" in strip(look(ada, term))


def test_admitted_page_shows_the_end_of_the_visit(ada: FlaskClient, term: Any) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    come(ada, term)
    shut(term, window, inside=1)
    answer = ada.get(f"/terms/{term.id}/stage", headers=HTMX)
    data = facts(answer.text)
    assert data["phase"] == "open"
    assert int(data["until"]) > int(data["now"])
    assert "pass=" in answer.headers["Set-Cookie"]
    assert "HttpOnly" in answer.headers["Set-Cookie"]


def test_first_page_of_a_turn_shows_its_end_while_others_wait(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    come(ada, term)
    come(ben, term)
    shut(term, window, inside=1)
    first, next_one = (facts(look(ada, term)) for _ in range(2))
    assert first["until"]
    assert abs(int(next_one["ends"]) - int(first["ends"])) < 1000  # from which on a page tells it


def test_picker_mentions_waiting_students(ada: FlaskClient, ben: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term), inside=1)
    come(ada, term)
    assert not strip(look(ada, term)).strip()
    come(ben, term)
    below = strip(look(ada, term))
    assert "1 person is waiting." in below
    assert "I’m done, let the next person in" in below


def test_buttons_are_marked_while_the_student_waits(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    shut(term, builders.an_open_window(term))
    come(ada, term)
    assert (
        "In the queue"
        in look(ada, term).partition(f'id="act-{section.id}"')[2].partition("</div>")[0]
    )


def test_page_without_scripts_reloads_in_time(ada: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term))
    come(ada, term)
    seconds = look(ada, term).partition('http-equiv="refresh" content="')[2].partition('"')[0]
    assert 12 <= int(seconds) <= 45


def test_pages_do_not_mention_a_waiting_room_that_is_off(
    guarded: Flask, ada: FlaskClient, term: Any
) -> None:
    guarded.config["GATE"] = False
    builders.a_coming_window(term)
    page = look(ada, term)
    assert not strip(page).strip()
    assert facts(page)["next"] == "open"
