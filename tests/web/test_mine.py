"""GET /terms/<t>/mine: my selections and my waitlists."""

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend as parts
from portal.catalog import board
from portal.catalog.models import Section
from portal.db import transaction
from portal.live import own
from portal.seats.answers import Reason
from portal.seats.asks import Candidate
from portal.windows.warmup import spec
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.visitors import browser_of
from tests.web.visits import press, words


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    found = builders.a_term()
    builders.an_open_window(found)
    return found


@pytest.fixture
def ada(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


def test_it_says_what_to_expect_where_there_is_nothing(ada: FlaskClient, term: Any) -> None:
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "Nothing yet" in text
    assert "0 of 21 credits" in text


def test_without_scripts_it_asks_again_now_and_then(ada: FlaskClient, term: Any) -> None:
    page = ada.get(f"/terms/{term.id}/mine").text
    found = re.search(r'<noscript><meta http-equiv="refresh" content="(\d+)">', page)
    assert found
    assert 60 <= int(found[1]) <= 120


def test_it_lists_selections_with_times_and_the_sum_of_credits(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    structures = builders.a_section(course, term, meetings=(Meets(),))
    calculus = builders.a_section(builders.a_course("MAT-1", credits=3), term)
    press(ada, structures, "pick")
    press(ada, calculus, "pick")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "7 of 21 credits" in text
    assert "Data Structures Mon Thu 10:00–11:50 am" in text
    assert "4 credits, selected at" in text


def test_it_lists_waitlists_with_place_size_and_time(
    app: Flask, ada: FlaskClient, term: Any
) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(browser_of(app, "ben"), section, "pick", wait="1")
    press(ada, section, "pick", wait="1")
    page = ada.get(f"/terms/{term.id}/mine").text
    assert f'id="place-{section.id}"' in page
    assert "Place 2 of 2" in words(page)
    assert "joined at" in words(page)
    assert f"/terms/{term.id}/sections/{section.id}/leave" in page


def test_who_was_passed_over_reads_why(ada: FlaskClient, term: Any, cast: Cast) -> None:
    section = builders.a_section(builders.a_course(), term, capacity=0)
    press(ada, section, "pick", wait="1")
    parts().ledger.put_section(term.id, replace(spec(section, ()), capacity=1, version=2))
    windows = tuple(window.id for window in parts().ledger.windows(term.id))
    hold = Reason("hold", {"kind": "fees", "reason": "Unpaid fees", "office": ""})
    candidate = Candidate(cast.ada.id, windows, 2100, rules=(hold,))
    parts().ledger.promote(term.id, section.id, [candidate], "tests")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "A seat came free, but it could not be yours" in text
    assert "Unpaid fees" in text
    assert "You keep your place" in text


def test_it_never_shows_anothers(app: Flask, ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term), "pick")
    assert "Data Structures" not in browser_of(app, "ben").get(f"/terms/{term.id}/mine").text


def test_a_section_that_was_canceled_says_so(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CANCELED")
        session.execute(gone)
    board.forget()
    assert "has been canceled" in ada.get(f"/terms/{term.id}/mine").text


def test_the_socket_draws_what_the_page_shows(
    app: Flask, ada: FlaskClient, term: Any, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    promoted = {"name": "promoted", "section": section.id, "student": cast.ada.id}
    with app.test_request_context():
        drawn = own.draw(term.id, cast.ada.id, [section.id], [promoted])
    assert f'id="act-{section.id}"' in drawn.html
    assert 'id="mine"' in drawn.html
    assert f'data-about="{section.id}"' in drawn.html
    assert f"You have a seat in CSC 1100-{section.number}" in words(drawn.html)
    assert drawn.waits == frozenset()


def test_the_socket_draws_nothing_of_a_term_that_is_none(app: Flask, cast: Cast) -> None:
    with app.test_request_context():
        assert own.draw(999_999, cast.ada.id, [], []).html == ""
