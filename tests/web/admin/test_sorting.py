"""The lists of the registrar are sorted by the headings of their columns."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Term
from portal.exchange.importing.models import Import
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import press
from tests.web.visitors import browser_of

DAY = timedelta(days=1)
ROW = re.compile(r'<th scope="row">(.*?)</th>', re.DOTALL)
HEADING = re.compile(
    r'<th scope="col"[^>]*?(?:aria-sort="(\w+)")?>\s*<a class="sort" href="([^"]*)">(\w+)'
)


@pytest.fixture
def offered(app: Flask, term: Term, cast: Cast) -> dict[str, Any]:
    """Three sections: A is first by code, B by its time, C by its open seats."""
    made = {
        "A": builders.a_section(
            builders.a_course("AAA-1", title="A"), term, capacity=9, meetings=(Meets("W"),)
        ),
        "B": builders.a_section(
            builders.a_course("BBB-2", title="B"), term, capacity=5, meetings=(Meets("M"),)
        ),
        "C": builders.a_section(
            builders.a_course("CCC-3", title="C"), term, capacity=2, instructor=cast.iris
        ),
    }
    builders.an_open_window(term)
    press(browser_of(app, "ada"), made["C"], "pick")
    drain(term.id)
    return made


def rows(client: FlaskClient, address: str) -> list[str]:
    """The names in the first column, without tags."""
    cells = ROW.findall(client.get(address).text)
    return [re.sub(r"<[^>]+>", " ", each).split("\n")[1].strip() for each in cells]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("", "ABC"),
        ("sort=section&order=down", "CBA"),
        ("sort=meets", "BAC"),  # a section without times comes last
        ("sort=meets&order=down", "ABC"),
        ("sort=instructor", "CAB"),
        ("sort=seats", "CBA"),
        ("sort=seats&order=down", "ABC"),
        ("sort=nonsense&order=down", "ABC"),
    ],
)
def test_sections_are_sorted_by_each_column(
    admin: FlaskClient, term: Term, offered: dict[str, Any], query: str, order: str
) -> None:
    assert offered
    address = f"/admin/terms/{term.id}/sections?{query}"
    assert "".join(rows(admin, address)) == order


def test_a_heading_says_how_a_list_is_sorted_and_leads_to_the_reverse(
    admin: FlaskClient, term: Term, offered: dict[str, Any]
) -> None:
    assert offered
    here = f"/admin/terms/{term.id}/sections"
    page = admin.get(f"{here}?q=a&sort=seats").text
    found = {name: (how, url.replace("&amp;", "&")) for how, url, name in HEADING.findall(page)}
    assert found["Seats"] == ("ascending", f"{here}?q=a&sort=seats&order=down")
    assert found["Meets"] == ("", f"{here}?q=a&sort=meets&order=up")
    assert found["Section"] == ("", f"{here}?q=a")


@pytest.mark.parametrize("column", ["name", "number", "email", "year", "level"])
def test_students_are_sorted_by_each_column(admin: FlaskClient, column: str) -> None:
    cells = re.compile(r'data-label="(\w+)">([^<]*)')
    values = {}
    for order in ("up", "down"):
        page = admin.get(f"/admin/students?sort={column}&order={order}").text
        names = re.findall(r'<th scope="row"><a class="row-link"[^>]*><bdi>([^<]*)', page)
        found = [value for label, value in cells.findall(page) if label.lower() == column]
        values[order] = names if column == "name" else found
    assert values["up"] == sorted(values["up"])
    assert values["down"] == sorted(values["up"], reverse=True)


@pytest.mark.parametrize("column", ["name", "department", "sections", "account"])
@pytest.mark.parametrize("order", ["up", "down"])
def test_instructors_are_sorted_by_each_column(admin: FlaskClient, column: str, order: str) -> None:
    page = admin.get(f"/admin/instructors?sort={column}&order={order}")
    assert page.status_code == 200
    assert 'aria-sort="' in page.text


def test_under_filled_sections_are_sorted_by_seats(
    admin: FlaskClient, term: Term, offered: dict[str, Any]
) -> None:
    assert offered
    page = admin.get(f"/admin/terms/{term.id}/underfilled?fewer=10&sort=seats").text
    seats = [int(each) for each in re.findall(r'data-label="Seats" class="num">(\d+)', page)]
    assert seats == sorted(seats)
    assert len(seats) == 3


@pytest.mark.parametrize("column", ["name", "number", "email", "year", "level"])
def test_students_found_for_receipts_are_sorted_by_each_column(
    admin: FlaskClient, column: str
) -> None:
    lists = [
        re.findall(
            r'<a class="row-link"[^>]*><bdi>([^<]*)',
            admin.get(f"/admin/receipts?q=e&sort={column}&order={order}").text,
        )
        for order in ("up", "down")
    ]
    assert len(lists[0]) > 1
    assert sorted(lists[0]) == sorted(lists[1])
    if column in ("name", "number"):
        assert lists[0] == lists[1][::-1]


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("", ["B", "A"]),  # the newest first
        ("sort=started&order=up", ["A", "B"]),
        ("sort=files&order=up", ["A", "B"]),
        ("sort=files&order=down", ["B", "A"]),
        ("sort=by&order=up", ["B", "A"]),
        ("sort=state&order=down", ["B", "A"]),
    ],
)
def test_imports_are_sorted_by_each_column(
    admin: FlaskClient, query: str, order: list[str]
) -> None:
    for name in "AB":
        an_old_import(name)
    page = admin.get(f"/admin/imports?{query}").text
    names = [re.sub(r"<[^>]+>", "", cell).strip() for cell in ROW.findall(page)]
    assert names == order


def an_old_import(name: str) -> None:
    now = datetime.now(UTC)
    builders.added(
        Import(name=name, sha256="", options={}, state="discarded", expires_at=now + DAY)
    )


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("", ["B", "A"]),
        ("sort=begins&order=down", ["A", "B"]),
        ("sort=ends&order=up", ["A", "B"]),
        ("sort=name&order=up", ["A", "B"]),
        ("sort=name&order=down", ["B", "A"]),
    ],
)
def test_windows_are_sorted_by_their_times_and_names(
    admin: FlaskClient, term: Term, query: str, order: list[str]
) -> None:
    builders.a_coming_window(term, minutes=60, name="B", lasts=600)
    builders.a_coming_window(term, minutes=120, name="A", lasts=60)
    for address in (f"/admin?{query}", f"/admin/now?{query}"):
        assert re.findall(r"<h3>([AB])</h3>", admin.get(address).text) == order


def test_past_windows_are_the_latest_first_or_in_the_order_that_the_page_says(
    admin: FlaskClient, term: Term
) -> None:
    for minutes, name in ((60, "B"), (120, "A")):
        window = builders.a_coming_window(term, minutes=minutes, name=name)
        backend().ledger.cancel_window(term.id, window.id, "tests")
    for query, said, order in (
        ("", "latest first", ["A", "B"]),
        ("sort=ends&order=up", "ascending", ["B", "A"]),
        ("sort=ends&order=down", "descending", ["A", "B"]),
    ):
        page = admin.get(f"/admin?{query}").text
        found = re.findall(r"Ends<span.*?, (\w+)</span></a>|canceled windows, ([\w ]+)<", page)
        assert ["".join(each) for each in found] == [said]
        assert re.findall(r"<h3>([AB])</h3>", page) == order
