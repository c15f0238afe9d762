"""GET /terms/<t>/mine: my selections and my waitlists."""

import re
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.live.rendering import renderers
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import press, words
from tests.web.visitors import browser_of


def test_empty_page_explains_what_to_expect(ada: FlaskClient, term: Any) -> None:
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "No classes yet" in text
    assert "0 of 21 credits" in text


def test_page_without_scripts_reloads(ada: FlaskClient, term: Any) -> None:
    page = ada.get(f"/terms/{term.id}/mine").text
    found = re.search(r'<noscript><meta http-equiv="refresh" content="(\d+)">', page)
    assert found
    assert 60 <= int(found[1]) <= 120


def test_page_lists_selections_with_times_and_credits(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    structures = builders.a_section(course, term, meetings=(Meets(),))
    calculus = builders.a_section(builders.a_course("MAT-1", credits=3), term)
    press(ada, structures, "pick")
    press(ada, calculus, "pick")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    assert "7 of 21 credits" in text
    assert "Data Structures Mon Thu 10:00–11:50 am" in text
    assert "4 credits, added at" in text


def test_classes_are_in_the_order_of_their_codes(ada: FlaskClient, term: Any) -> None:
    codes = ("MAT-100", "CSC-1100", "MAT-99")  # neither their order nor that of the claims
    for section in [builders.a_section(builders.a_course(code), term) for code in codes]:
        press(ada, section, "pick")
    text = words(ada.get(f"/terms/{term.id}/mine").text)
    at = [text.index(f"Course {code} ") for code in ("CSC-1100", "MAT-99", "MAT-100")]
    assert at == sorted(at)


def test_selections_of_others_are_never_shown(app: Flask, ada: FlaskClient, term: Any) -> None:
    course = builders.a_course(title="Data Structures")
    press(ada, builders.a_section(course, term), "pick")
    assert "Data Structures" not in browser_of(app, "ben").get(f"/terms/{term.id}/mine").text


def test_canceled_section_says_what_to_do(ada: FlaskClient, term: Any) -> None:
    course = builders.a_course()
    section = builders.a_section(course, term)
    builders.a_section(course, term)
    press(ada, section, "pick")
    with transaction() as session:
        gone = update(Section).where(Section.id == section.id).values(status="CANCELED")
        session.execute(gone)
    term_catalog.forget()
    page = ada.get(f"/terms/{term.id}/mine").text
    assert "has been canceled. This class will not take place." in words(page)
    assert "Other sections of CSC 1100" in words(page)


def test_held_section_can_be_swapped_or_dropped(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    press(ada, section, "pick")
    page = ada.get(f"/terms/{term.id}/mine").text
    for act in ("swaps", "drop"):
        assert f'href="/terms/{term.id}/sections/{section.id}/{act}"' in page


def test_socket_renders_nothing_for_an_unknown_term(app: Flask, cast: Cast) -> None:
    with app.test_request_context():
        assert renderers.student(999_999, cast.ada.id).html == ""
