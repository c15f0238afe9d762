"""GET /terms/<t>: the lobby that becomes the picker."""

import re
from datetime import date
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend as parts
from portal.catalog.models import Instructor
from portal.core.db import transaction
from portal.registration import limits
from portal.web.student import term_page
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import HTMX, address, cell, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def term(cast: Cast) -> Any:  # noqa: ARG001
    return builders.a_term()


def test_page_needs_a_login(client: FlaskClient, term: Any) -> None:
    assert client.get(f"/terms/{term.id}").status_code == 302


def test_page_is_for_students(app: Flask, term: Any) -> None:
    assert browser_of(app, "iris").get(f"/terms/{term.id}").status_code == 403


def test_admin_is_redirected_to_the_terms_sections(app: Flask, term: Any) -> None:
    admin = browser_of(app, "max")
    assert admin.get(f"/terms/{term.id}").location == f"/admin/terms/{term.id}/sections"
    assert admin.get(f"/terms/{term.id}/mine").status_code == 403


def test_unknown_term_is_not_found(ada: FlaskClient) -> None:
    assert ada.get("/terms/999999").status_code == 404


def test_list_can_be_browsed_without_a_window(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(f"/terms/{term.id}").text
    assert "No registration date yet" in page
    assert "Not open yet" in cell(page, section)


def test_page_counts_down_to_the_opening(ada: FlaskClient, term: Any) -> None:
    window = builders.a_coming_window(term, minutes=12)
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(f"/terms/{term.id}").text
    assert 'data-phase="before"' in page
    assert f'data-opens="{window.opens}"' in page
    assert "Opens in 12 minutes" in page
    assert "Opens " in words(cell(page, section))


def test_page_without_scripts_reloads_soon_after_the_opening(
    ada: FlaskClient, term: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("random.randint", lambda _least, most: most)
    window = builders.a_coming_window(term, minutes=0.6)
    page = ada.get(f"/terms/{term.id}").text
    seconds = re.search(r'<noscript><meta http-equiv="refresh" content="(\d+)">', page)
    now = re.search(r'data-now="(\d+)"', page)
    assert seconds
    assert now
    assert 0 <= int(seconds[1]) - (window.opens - int(now[1])) / 1000 < 6


def test_page_without_scripts_has_a_link_for_new_counts(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    page = ada.get(f"/terms/{term.id}?q=calculus").text
    assert "http-equiv" not in page
    link = f'<a class="back" href="/terms/{term.id}?q=calculus">Update seat counts</a>'
    assert re.search(f"<noscript>[^/]*{re.escape(link)}", page)


def test_banner_names_the_window(ada: FlaskClient, term: Any) -> None:
    builders.a_coming_window(term, minutes=12)
    text = words(ada.get(f"/terms/{term.id}").text)
    assert "Selection · Opens in 12 minutes" in text


def test_every_row_has_a_link_in_an_open_window(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(f"/terms/{term.id}").text
    assert 'data-phase="open"' in page
    assert f'href="/terms/{term.id}/sections/{section.id}/pick"' in cell(page, section)
    assert "<form" not in cell(page, section)


def test_ended_window_shows_only_own_selections(ada: FlaskClient, term: Any) -> None:
    window = builders.an_open_window(term)
    section = builders.a_section(builders.a_course(title="Data Structures"), term)
    builders.a_section(builders.a_course("MAT-1", title="Calculus"), term)
    press(ada, section, "pick")
    parts().ledger.close_window(term.id, window.id, "tests")
    limits.windows.cache_clear()  # type: ignore[attr-defined]
    page = ada.get(f"/terms/{term.id}").text
    assert "Registration has ended" in page
    assert "Calculus" not in page
    assert "Data Structures" in page
    assert 'class="section-row"' not in page


@pytest.mark.parametrize("target", ["results", "more", ""])
@pytest.mark.parametrize("query", ["", "?page=2", "?q=calculus&open=1"])
def test_list_is_empty_after_the_window_for_any_query(
    ada: FlaskClient, term: Any, target: str, query: str
) -> None:
    builders.an_ended_window(term)
    builders.a_section(builders.a_course("MAT-1", title="Calculus"), term)
    headers = {**HTMX, "HX-Target": target} if target else {}
    page = ada.get(f"/terms/{term.id}{query}", headers=headers)
    assert page.status_code == 200
    assert "Calculus" not in page.text
    assert 'class="section-row"' not in page.text


def test_one_of_several_terms_can_be_chosen(ada: FlaskClient, term: Any) -> None:
    other = builders.a_term("Spring 2031")
    term_page.offered_terms.cache_clear()  # type: ignore[attr-defined]
    page = ada.get(f"/terms/{term.id}").text
    assert f'href="/terms/{other.id}"' in page


def test_nearest_of_many_terms_are_named(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    years = [*range(2026, 2030), *range(2031, 2036)]
    others = [builders.a_term(f"Term {year}", starts_on=date(year, 1, 7)) for year in years]
    term_page.offered_terms.cache_clear()  # type: ignore[attr-defined]
    page = ada.get(f"/terms/{term.id}").text
    named = [each for each in others if f'href="/terms/{each.id}"' in page]
    assert [each.starts_on.year for each in named] == [2029, 2031, 2032]
    assert 'href="/?all"' in page
    everything = ada.get("/?all").text
    assert all(f'href="/terms/{each.id}"' in everything for each in [term, *others])


def test_times_name_the_zone_where_the_device_has_another(ada: FlaskClient, term: Any) -> None:
    builders.a_coming_window(term, minutes=60)
    assert "your time" not in ada.get(f"/terms/{term.id}").text
    ada.set_cookie("zone", "Asia/Kolkata")
    assert re.search(r"Opens .*m E[SD]T \(.*m your time\)", ada.get(f"/terms/{term.id}").text)


def test_a_refusal_names_the_zone_and_the_device_s_own_time(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    builders.a_coming_window(term, minutes=60)
    refused = words(ada.post(address(section, "pick")).text)
    assert re.search(r"It opens at .*m E[SD]T on \w+, \w+ \d+\.", refused)
    ada.set_cookie("zone", "Asia/Kolkata")
    refused = words(ada.post(address(section, "pick")).text)
    assert re.search(r"It opens at .*m E[SD]T on .* \(.*m your time\)", refused)


@pytest.mark.parametrize("zone", ["Nowhere/At_All", "../../etc/passwd", "x" * 200, "America"])
def test_an_unknown_zone_of_a_device_is_ignored(ada: FlaskClient, term: Any, zone: str) -> None:
    builders.a_coming_window(term, minutes=60)
    ada.set_cookie("zone", zone)
    answer = ada.get(f"/terms/{term.id}")
    assert (answer.status_code, "your time" in answer.text) == (200, False)


def test_names_are_written_in_their_own_direction(ada: FlaskClient, term: Any, cast: Cast) -> None:
    name = "\u05e0\u05d5\u05e2\u05d4"  # in Hebrew, and without a surname
    with transaction() as session:
        session.execute(update(Instructor).where(Instructor.id == cast.iris.id).values(name=name))
    course = builders.a_course(title="\u05d0\u05dc\u05d2\u05d1\u05e8\u05d4")
    builders.a_section(course, term, instructor=cast.iris)
    page = ada.get(f"/terms/{term.id}").text
    assert f"<bdi>{name}</bdi>" in page
    assert re.search(rf'<h2 class="row-title" dir="auto"><a [^>]*>{course.title}<', page)
