"""One search box finds students, sections, instructors, rooms and receipts."""

import re

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog import term_catalog
from portal.catalog.models import Term
from portal.recorder.receipts import history
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import press
from tests.web.visitors import browser_of


@pytest.fixture
def admin(app: Flask, term: Term, cast: Cast) -> FlaskClient:
    course = builders.a_course("CSC-1100", title="Programming")
    times = (Meets(room="Hall 1"),)
    section = builders.a_section(
        course, term, instructor=cast.iris, meetings=times, crn="41877", number="07"
    )
    press(browser_of(app, "ada"), section, "pick")
    drain(term.id)
    return browser_of(app, "max")


def found(admin: FlaskClient, text: str) -> list[str]:
    """What a search lists, in order."""
    answer = admin.get("/admin/search", query_string={"q": text})
    assert answer.status_code == 200
    return re.findall(r'class="term-name" href="[^"]*"><bdi>([^<]*)', answer.text)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("csc 1100", ["CSC 1100-07 Programming", "CSC 1100 Programming"]),
        ("CSC-1100", ["CSC 1100-07 Programming", "CSC 1100 Programming"]),
        ("csc1100", ["CSC 1100-07 Programming", "CSC 1100 Programming"]),
        ("CSC 1100 Prog", ["CSC 1100-07 Programming", "CSC 1100 Programming"]),
        ("hall", ["Hall 1"]),
        ("nothing like it", []),
        ("%", []),
        ("", []),
        ("\0", []),
    ],
)
def test_each_kind_is_found(admin: FlaskClient, text: str, names: list[str]) -> None:
    assert found(admin, text) == names


def test_the_one_thing_of_a_number_is_opened(admin: FlaskClient, term: Term, cast: Cast) -> None:
    (receipt,) = history(cast.ada.id).receipts
    for text, address in (
        (cast.ada.number, f"/admin/students/{cast.ada.id}"),
        (receipt.code.lower(), f"/admin/receipts/{receipt.code}"),
        (" 41877 ", f"/admin/terms/{term.id}/sections/{receipt.section}"),
    ):
        answer = admin.get("/admin/search", query_string={"q": text})
        assert (answer.status_code, answer.location) == (303, address)
    builders.a_section(builders.a_course("CSC-1200"), builders.a_term("Fall 2031"), crn="41877")
    assert len(found(admin, "41877")) == 2


def test_people_are_found_by_their_name(admin: FlaskClient, cast: Cast) -> None:
    assert len(found(admin, "Ada")) == 1
    by_name = found(admin, cast.iris.name)
    assert by_name == ["CSC 1100-07 Programming", cast.iris.name]


def test_a_few_are_shown_and_a_link_leads_to_all(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("MAT-2000", title="Algebra")
    for _ in range(7):
        builders.a_section(course, term)
    term_catalog.expire(term.id)
    page = admin.get("/admin/search?q=algebra").text
    assert page.count("MAT 2000-") == 5
    assert f"/admin/terms/{term.id}/sections?q=algebra" in page


def test_every_page_of_an_admin_has_the_box(admin: FlaskClient, app: Flask) -> None:
    box = 'role="search" action="/admin/search"'
    for address in ("/admin", "/admin/students", "/account"):
        assert box in admin.get(address).text
    for other in ("ada", "iris"):
        assert box not in browser_of(app, other).get("/account").text
