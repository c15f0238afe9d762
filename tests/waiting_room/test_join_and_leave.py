"""Join and leave the queue (POST /terms/<t>/room), and the page of the queue."""

from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.waiting_room.lobby import come, facts, look, proven, shut, strip
from tests.web.pages import DIALOG, HTMX, words
from tests.web.visitors import browser_of


def kind(term: Any, window: Any, student: Any) -> str:
    return room.queue_entry(term.id, window.id, student.id).kind


def test_joining_before_the_opening_takes_part_in_the_draw(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.a_coming_window(term)
    answer = come(ada, term)
    assert answer.headers["Fairseat-Gate"] == "early"
    assert 'hx-swap-oob="innerHTML:#gate"' in answer.text
    assert kind(term, window, cast.ada) == "early"


def test_joining_an_empty_queue_admits_at_once(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    answer = come(ada, term)
    assert answer.headers["Fairseat-Gate"] == "in"
    assert ada.get_cookie("pass", path=f"/terms/{term.id}")


def test_joining_without_scripts_leads_to_the_list_or_the_queue(
    ada: FlaskClient, term: Any
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    address = f"/terms/{term.id}/room"
    assert ada.post(address).location == address
    shut(term, window, inside=1)
    assert ada.post(address).location == f"/terms/{term.id}"


def test_unsolved_captcha_gets_no_queue_position(guarded: Flask, term: Any, cast: Cast) -> None:
    window = builders.a_coming_window(term)
    assert come(browser_of(guarded, "ada"), term).headers["Fairseat-Gate"] == "unproven"
    assert kind(term, window, cast.ada) == "none"


def test_window_of_another_cohort_cannot_be_joined(ada: FlaskClient, term: Any, cast: Cast) -> None:
    window = builders.an_open_window(term, cohort={"years": ["Senior"]})
    assert come(ada, term).headers["Fairseat-Gate"] == "free"
    assert kind(term, window, cast.ada) == "none"
    assert not ada.get_cookie("pass", path=f"/terms/{term.id}")


def test_queue_position_is_the_same_from_another_browser(
    guarded: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    for student in (1000, 1001):
        room.enter(term.id, window.id, student)
    come(ada, term)
    elsewhere = proven(guarded, "ada", cast.ada)
    assert facts(look(elsewhere, term))["number"] == "3"
    assert facts(come(elsewhere, term).text)["number"] == "3"


def test_leaving_asks_for_confirmation_and_explains_the_loss(ada: FlaskClient, term: Any) -> None:
    shut(term, builders.an_open_window(term))
    come(ada, term)
    page = ada.get(f"/terms/{term.id}/room/leave", headers=DIALOG).text
    assert "If you come back before your turn, you keep your position." in words(page)


def test_page_does_not_rejoin_for_a_student_who_left(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.a_coming_window(term)
    come(ada, term)
    answer = ada.post(f"/terms/{term.id}/room/leave", headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert kind(term, window, cast.ada) == "none"
    below = strip(look(ada, term))
    assert 'hx-trigger="submit"' in below
    assert "Join the queue" in below
    come(ada, term)
    assert "You’re in the draw" in strip(look(ada, term))


def test_leaving_the_picker_admits_the_next_student_and_ends_the_token(
    guarded: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    shut(term, window, inside=1)
    come(ada, term)
    ben = proven(guarded, "ben", cast.ben)
    assert come(ben, term).headers["Fairseat-Gate"] == "waiting"
    ada.post(f"/terms/{term.id}/room/leave")
    assert ada.get_cookie("pass", path=f"/terms/{term.id}") is None
    assert kind(term, window, cast.ben) == "called"
    assert facts(look(ben, term))["phase"] == "open"


def test_queue_page_shows_the_position_and_since_when(ada: FlaskClient, term: Any) -> None:
    window = builders.an_open_window(term)
    shut(term, window)
    room.enter(term.id, window.id, 1000)
    come(ada, term)
    page = look(ada, term, "/room")
    text = words(page)
    assert "You are number 2 in the queue" in text
    assert "1 person is ahead of you." in text
    assert "In the queue since" in text
    assert "http-equiv" in page


def test_queue_page_says_if_there_is_no_queue(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    assert "No one has to wait right now." in look(ada, term, "/room")


def test_ended_window_has_a_page_without_a_queue(ada: FlaskClient, term: Any) -> None:
    builders.an_ended_window(term)
    assert facts(look(ada, term, "/room"))["phase"] == "ended"
    assert come(ada, term).headers["Fairseat-Gate"] == "free"


def test_instructors_cannot_join(guarded: Flask, term: Any) -> None:
    builders.an_open_window(term)
    answer = browser_of(guarded, "iris").post(f"/terms/{term.id}/room", headers=HTMX)
    assert answer.status_code == 403
