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


def test_form_shows_drops_left_today(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    text = words(ada.get(address(section, "drop")).text)
    assert "You can drop 3 more classes today" in text
    assert "Keep class" in text


def test_form_shows_how_many_wait_for_the_seat(app: Flask, ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    press(browser_of(app, "ben"), section, "pick", wait="1")
    assert "It goes to the student on the waitlist" in words(ada.get(address(section, "drop")).text)


def test_drop_works_without_javascript(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    press(ada, section, "pick")
    page = ada.get(press(ada, section, "drop").location).text
    assert ". You can drop 2 more classes today." in words(page)
    assert "Add" in cell(page, section)
    assert parts().ledger.registrations(term.id, cast.ada.id).enrolled == ()


def test_htmx_response_updates_the_page(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop"), headers=DIALOG).text)
    answer = ada.post(address(section, "drop"), data=form, headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert "1 of 1 open" in words(answer.text)


def test_fourth_drop_of_a_day_is_refused_with_the_next_time(ada: FlaskClient, term: Any) -> None:
    sections = [builders.a_section(builders.a_course(f"CSC-{n}"), term) for n in range(4)]
    for section in sections:
        press(ada, section, "pick")
    for section in sections[:3]:
        assert press(ada, section, "drop").status_code == 303
    assert "used all your drops for today" in words(ada.get(address(sections[3], "drop")).text)
    answer = press(ada, sections[3], "drop")
    assert answer.status_code == 422
    assert "You can drop again from 12:00 am" in answer.text


def test_section_not_held_cannot_be_dropped(ada: FlaskClient, section: Any) -> None:
    assert 'data-reason="not_enrolled"' in ada.get(address(section, "drop")).text
    assert ada.post(address(section, "drop")).status_code == 422


def test_form_sent_twice_has_one_effect(ada: FlaskClient, section: Any) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop")).text)
    for _ in range(2):
        answer = ada.post(address(section, "drop"), data=form)
        assert "You can drop 2 more classes today" in words(ada.get(answer.location).text)


def test_old_form_does_not_drop_a_new_seat(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    press(ada, section, "pick")
    form = hidden(ada.get(address(section, "drop")).text)
    ada.post(address(section, "drop"), data=form)
    press(ada, section, "pick")
    answer = ada.post(address(section, "drop"), data=form)
    assert "have it again now" in words(ada.get(answer.location).text)
    assert len(parts().ledger.registrations(term.id, cast.ada.id).enrolled) == 1
