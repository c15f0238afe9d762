"""GET /admin/terms/<t>/sections."""

from flask import Flask

from tests.cast import Cast, a_course, a_section, a_term
from tests.web.visitors import browser_of


def test_every_section_is_listed_with_its_live_seats(app: Flask, cast: Cast) -> None:
    term = a_term()
    draft = a_section(a_course("CSC-1100"), term, capacity=30, status="NEW")
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections").text
    assert "CSC-1100" in page
    assert "New" in page
    assert f'id="seats-{draft.id}"' in page
    assert f'data-live-term="{term.id}"' in page
    assert cast.max


def test_sections_are_searched(app: Flask, cast: Cast) -> None:
    term = a_term()
    for code in ("CSC-1100", "MTH-2000"):
        a_section(a_course(code), term)
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections?q=mth").text
    assert "MTH-2000" in page
    assert "CSC-1100" not in page
    assert cast.max


def test_search_without_results_says_so(app: Flask, cast: Cast) -> None:
    term = a_term()
    page = browser_of(app, "max").get(f"/admin/terms/{term.id}/sections?q=zzz&page=x").text
    assert "No section matches." in page
    assert cast.max


def test_students_do_not_see_drafts(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "ada").get(f"/admin/terms/{a_term().id}/sections").status_code == 403
    assert cast.ada
