"""What a page says of the gate: the draw, a place in line, a visit; nothing if nobody waits."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.waiting_room import room
from portal.windows import draw_seeds
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.lobby import come, facts, look, shut, strip
from tests.web.pages import DIALOG, HTMX, words
from tests.web.visitors import browser_of


def test_the_lobby_asks_for_the_captcha_first(guarded: Flask, term: Any) -> None:
    builders.a_coming_window(term)
    assert "data-captcha=" in strip(look(browser_of(guarded, "ada"), term))


def test_the_lobby_of_the_proven_takes_a_place_by_itself(ada: FlaskClient, term: Any) -> None:
    builders.a_coming_window(term)
    below = strip(look(ada, term))
    assert 'hx-trigger="load,' in below
    assert "Join the queue" in below


def test_who_has_come_early_is_in_the_draw(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    come(ada, term)
    page = look(ada, term)
    assert "You are in the draw for the first positions." in strip(page)
    assert draw_seeds.commitment(term.id, window.id)[:8] in strip(page)
    told = facts(page)
    assert (told["phase"], told["next"], told["then"]) == ("before", "line", "Drawing the order…")
    assert told["room"] == str(window.id)
    assert int(told["poll"]) > 0


def test_few_ask_sooner_at_the_opening_than_many(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    come(ada, term)
    assert facts(look(ada, term))["asks"] == "500 510"
    for student in range(10_000, 10_400):
        room.enter(term.id, window.id, student)
    assert facts(look(ada, term))["asks"] == "500 4000"


def test_who_is_not_in_the_draw_opens_at_zero_as_ever(guarded: Flask, term: Any) -> None:
    builders.a_coming_window(term)
    told = facts(look(browser_of(guarded, "ada"), term))
    assert (told["next"], told["then"]) == ("open", "Add your classes")


def test_where_nobody_waits_an_open_window_is_as_it_was(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    page = look(ada, term)
    assert facts(page)["phase"] == "open"
    assert not strip(page).strip()
    assert "data-kept" not in page


def test_who_waits_sees_the_number_who_is_before_and_how_long(
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
    told = words(page)
    assert "You are number 1 in the queue" in told  # of those who wait, though two came in all
    assert "You are next." in told
    assert "Leave the queue" in strip(page)


def test_where_the_line_stands_still_no_wait_is_made_up(ada: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term))
    come(ada, term)
    assert "not known yet" in words(look(ada, term, "/room"))


def test_the_range_that_is_shown_first_is_kept(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    shut(term, window, inside=1)
    come(ada, term)
    come(ben, term)
    first = look(ben, term)
    kept = backend.redis.hgetall(f"{{t:{term.id}}}:room:{window.id}:said")
    look(ben, term)
    assert "data-number" in first
    assert list(kept) == [room.look(term.id, window.id, cast.ben.id).request.encode()]
    assert kept == backend.redis.hgetall(f"{{t:{term.id}}}:room:{window.id}:said")


@pytest.mark.parametrize("page", ["", "/mine", "/plan", "/room"])
def test_who_comes_while_others_wait_is_in_line_behind_them(
    ada: FlaskClient, ben: FlaskClient, term: Any, page: str
) -> None:
    shut(term, builders.an_open_window(term))
    look(ada, term, page)
    told = look(ben, term, page)
    assert facts(told)["phase"] == "line"
    assert "You are number 2 in the queue" in words(told)
    assert "1 person is ahead of you." in words(told)


def test_who_comes_to_a_full_room_where_nobody_waits_is_next_in_line(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    shut(term, builders.an_open_window(term), inside=1)
    come(ada, term)
    told = look(ben, term)
    assert facts(told)["phase"] == "line"
    assert "You are number 1 in the queue" in words(told)
    assert "You are next." in words(told)


def test_who_comes_faster_than_the_limit_lets_in_is_in_line(
    ada: FlaskClient, ben: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 1, 100, off=False)
    come(ada, term)
    assert "You are number 1 in the queue" in words(look(ben, term))


@pytest.mark.parametrize("purpose", ["Sec-Purpose", "Purpose"])
def test_a_page_that_is_asked_for_ahead_of_its_reader_joins_no_line(
    ada: FlaskClient, term: Any, cast: Cast, purpose: str
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    ada.get(f"/terms/{term.id}", headers={purpose: "prefetch;prerender"})
    ada.head(f"/terms/{term.id}")
    assert room.look(term.id, window.id, cast.ada.id).kind == "none"
    assert 'hx-trigger="load,' in strip(
        ada.get(f"/terms/{term.id}", headers={purpose: "prefetch"}).text
    )


def test_a_robot_joins_no_line_by_looking(guarded: Flask, term: Any, cast: Cast) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    look(browser_of(guarded, "ada"), term)
    assert room.look(term.id, window.id, cast.ada.id).kind == "none"


def test_who_left_the_line_is_not_put_back_by_looking(
    ada: FlaskClient, ben: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    look(ben, term)
    look(ada, term)
    ada.post(f"/terms/{term.id}/room/leave")
    told = look(ada, term)
    assert "Others are waiting." in strip(told)
    assert "Join the queue" in strip(told)
    assert room.look(term.id, window.id, cast.ada.id).kind == "none"


def test_the_number_counts_down_as_those_before_are_called(
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
def test_while_the_line_is_paused_every_page_says_so_and_that_the_place_is_kept(
    ada: FlaskClient, ben: FlaskClient, term: Any, page: str
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    look(ada, term)
    told = words(look(ben, term, page))
    assert "You are number 2 in the queue" in told
    assert "The registrar has paused the queue. You keep your position." in told
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    told = words(look(ben, term, page))
    assert "has paused" not in told
    assert "You are number 2 in the queue" in told


def test_a_form_that_waits_for_its_turn_says_that_the_line_is_paused(
    ada: FlaskClient, term: Any
) -> None:
    section = builders.a_section(builders.a_course(), term)
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    form = words(ada.get(f"/terms/{term.id}/sections/{section.id}/pick", headers=DIALOG).text)
    assert "You are number 1 in the queue" in form
    assert "The registrar has paused the queue. You keep your position." in form


def test_who_is_in_the_draw_of_a_paused_line_reads_so(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term)
    room.set_limits(term.id, window.id, 0, 10, off=False)
    come(ada, term)
    assert "The registrar has paused the queue" in strip(look(ada, term))


def test_at_ones_turn_the_page_gets_in_and_says_until_when(ada: FlaskClient, term: Any) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    come(ada, term)
    shut(term, window, inside=1)
    answer = ada.get(f"/terms/{term.id}/stage", headers=HTMX)
    told = facts(answer.text)
    assert told["phase"] == "open"
    assert int(told["until"]) > int(told["now"])
    assert "pass=" in answer.headers["Set-Cookie"]
    assert "HttpOnly" in answer.headers["Set-Cookie"]


def test_who_is_in_hears_of_those_who_wait(ada: FlaskClient, ben: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term), inside=1)
    come(ada, term)
    assert not strip(look(ada, term)).strip()
    come(ben, term)
    below = strip(look(ada, term))
    assert "1 person is waiting." in below
    assert "I’m done, let the next person in" in below


def test_buttons_in_line_say_so(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    shut(term, builders.an_open_window(term))
    come(ada, term)
    assert (
        "In the queue"
        in look(ada, term).partition(f'id="act-{section.id}"')[2].partition("</div>")[0]
    )


def test_without_scripts_who_waits_is_asked_again_in_time(ada: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term))
    come(ada, term)
    seconds = look(ada, term).partition('http-equiv="refresh" content="')[2].partition('"')[0]
    assert 12 <= int(seconds) <= 45


def test_with_the_gate_off_pages_say_nothing_of_it(
    guarded: Flask, ada: FlaskClient, term: Any
) -> None:
    guarded.config["GATE"] = False
    builders.a_coming_window(term)
    page = look(ada, term)
    assert not strip(page).strip()
    assert facts(page)["next"] == "open"
