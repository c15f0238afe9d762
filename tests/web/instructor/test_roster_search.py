"""Searching in a roster, and sorting it."""

import re
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from tests.cast import Cast, a_course, a_section, a_student, a_term
from tests.web.instructor.rosters import enrolled, private, reached_at, waiting
from tests.web.visitors import browser_of

NAMES = re.compile(r'<th scope="row">(?:\d+\. )?<bdi>([^<]*?)\s*<')


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """Iris's class: Ángel, a junior, Ben, a freshman, and Zoe, a senior; Cleo and Dan wait."""
    assert app
    section = a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)
    enrolled(section, a_student("zoe", majors=("ART",), year="Senior"), 1)
    enrolled(section, a_student("ángel", majors=("MTH",), year="Junior"), 2)
    enrolled(section, cast.ben, 3)
    waiting(section, cast.cleo, 4)
    waiting(section, cast.dan, 5)
    reached_at(cast.ben, "ben@u.example")
    return section


@pytest.fixture
def iris(app: Flask, section: Section) -> FlaskClient:
    assert section
    return browser_of(app, "iris")


def names(client: FlaskClient, section: Section, query: str, part: str = "") -> list[str]:
    page = client.get(f"/teaching/sections/{section.id}{part}?{query}")
    assert page.status_code == 200
    return NAMES.findall(unescape(page.text))


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("", ["Ángel", "Ben", "Zoe"]),
        ("sort=name&order=down", ["Zoe", "Ben", "Ángel"]),
        ("sort=year", ["Ben", "Ángel", "Zoe"]),
        ("sort=major&order=down", ["Ángel", "Zoe", "Ben"]),
        ("sort=number", ["Ben", "Zoe", "Ángel"]),
        ("sort=email&order=down", ["Ben", "Ángel", "Zoe"]),
        ("sort=nonsense&order=down", ["Ángel", "Ben", "Zoe"]),
    ],
)
def test_roster_is_sorted_and_the_waitlist_keeps_its_order(
    iris: FlaskClient, section: Section, query: str, order: list[str]
) -> None:
    assert names(iris, section, query) == [*order, "Cleo", "Dan"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("angel", ["Ángel"]),
        ("BEN@U.example", ["Ben"]),
        ("mth jun", ["Ángel"]),
        ("dan", ["Dan"]),
        ("nobody", []),
    ],
)
def test_search_covers_all_shown_columns(
    iris: FlaskClient, section: Section, text: str, found: list[str]
) -> None:
    for part in ("", "/roster"):
        assert names(iris, section, f"q={text}", part) == found


def test_found_waiting_students_keep_their_position(iris: FlaskClient, section: Section) -> None:
    page = iris.get(f"/teaching/sections/{section.id}?q=dan").text
    assert "2. <bdi>Dan" in page
    assert "0 of 3" in page
    assert "1 of 2" in page


def test_live_roster_keeps_search_and_order(iris: FlaskClient, section: Section) -> None:
    answer = iris.get(f"/teaching/sections/{section.id}/roster?q=e&sort=year&order=down")
    here = f"/teaching/sections/{section.id}"
    requested = "q=e&sort=year&order=down"
    assert f'hx-get="{here}/roster?{requested}"' in unescape(answer.text)
    assert answer.headers["HX-Replace-Url"] == f"{here}?{requested}"


def test_private_data_does_not_affect_search_or_order(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    private(cast.ben)
    assert names(iris, section, "q=u.example") == []
    assert names(iris, section, "sort=email&order=down") == ["Ángel", "Ben", "Zoe", "Cleo", "Dan"]
