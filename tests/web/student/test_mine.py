"""GET /terms/<t>/mine: my selections and my waitlists."""

import re
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.live import rendering
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import press, words
from tests.web.visitors import browser_of


def test_it_says_what_to_expect_where_there_is_nothing(ada: FlaskClient, term: Any) -> None:
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "No classes yet" in text
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
    assert "4 credits, added at" in text


def test_it_never_shows_anothers(app: Flask, ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term), "pick")
    assert "Data Structures" not in browser_of(app, "ben").get(f"/terms/{term.id}/mine").text


def test_a_section_that_was_canceled_says_so_and_what_to_do(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course()
    section = builders.a_section(course, term)
    builders.a_section(course, term)
    press(ada, section, "pick")
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CANCELED")
        session.execute(gone)
    term_catalog.forget()
    page = ada.get(f"/terms/{term.id}/mine").text
    assert "has been canceled. It will not take place." in words(page)
    assert "Other sections of CSC 1100" in words(page)


def test_what_is_held_can_be_swapped_or_canceled(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    page = ada.get(f"/terms/{term.id}/mine").text
    for act in ("swaps", "drop"):
        assert f'href="/terms/{term.id}/sections/{section.id}/{act}"' in page


def test_the_socket_draws_nothing_of_a_term_that_is_none(app: Flask, cast: Cast) -> None:
    with app.test_request_context():
        assert rendering.draw_student(999_999, cast.ada.id, [], []).html == ""
