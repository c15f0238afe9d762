"""GET and POST /terms/<t>/sections/<s>/drop."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import DIALOG, address, cell, hidden, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=1)


def test_the_form_says_how_many_are_left_today(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    text = words(ada.get(address(section, "drop")).text)
    assert "You can drop 3 more classes today" in text
    assert "Keep class" in text


def test_the_form_says_who_waits_for_the_seat(app: Flask, ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    press(browser_of(app, "ben"), section, "pick", wait="1")
    assert "It goes to the student on the waitlist" in words(ada.get(address(section, "drop")).text)


def test_without_javascript_the_seat_is_given_up(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    press(ada, section, "pick")
    page = ada.get(press(ada, section, "drop").location).text
    assert ". You can drop 2 more classes today." in words(page)
    assert "Add" in cell(page, section)
    assert parts().ledger.standing(term.id, cast.ada.id).enrolled == ()


def test_with_htmx_the_change_is_put_in_place(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop"), headers=DIALOG).text)
    answer = ada.post(address(section, "drop"), data=form, headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert "1 of 1 open" in words(answer.text)


def test_a_fourth_one_on_a_day_is_refused_with_when_it_can_be_done(
    ada: FlaskClient, term: Any
) -> None:
    sections = [builders.a_section(builders.a_course(f"CSC-{n}"), term) for n in range(4)]
    for section in sections:
        press(ada, section, "pick")
    for section in sections[:3]:
        assert press(ada, section, "drop").status_code == 303
    assert "used all your drops for today" in words(ada.get(address(sections[3], "drop")).text)
    answer = press(ada, sections[3], "drop")
    assert answer.status_code == 422
    assert "You can drop again from 12:00 am" in answer.text


def test_what_is_not_mine_cannot_be_given_up(ada: FlaskClient, section: Any) -> None:
    assert 'data-reason="not_enrolled"' in ada.get(address(section, "drop")).text
    assert ada.post(address(section, "drop")).status_code == 422


def test_a_form_sent_twice_counts_once(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop")).text)
    for _ in range(2):
        answer = ada.post(address(section, "drop"), data=form)
        assert "You can drop 2 more classes today" in words(ada.get(answer.location).text)


def test_an_old_form_gives_up_nothing_that_was_picked_again(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop")).text)
    ada.post(address(section, "drop"), data=form)
    press(ada, section, "pick")
    answer = ada.post(address(section, "drop"), data=form)
    assert "have it again now" in words(ada.get(answer.location).text)
    assert len(parts().ledger.standing(term.id, cast.ada.id).enrolled) == 1
