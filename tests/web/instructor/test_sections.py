"""GET /teaching."""

import re
from datetime import date

from flask import Flask

from tests.cast import Cast, Meets, a_course, a_section, a_term
from tests.web.visitors import browser_of

LIVE = re.compile(r'data-live-term="(\d+)"')
COUNTS = re.compile(r'id="seats-(\d+)"')


def test_page_lists_own_sections_with_seats_and_times(app: Flask, cast: Cast) -> None:
    term = a_term()
    meets = (Meets("MR", "14:00", "15:50"),)
    own = a_section(a_course("CSC-1100"), term, instructor=cast.iris, meetings=meets)
    page = browser_of(app, "iris").get("/teaching").text
    assert "CSC-1100" in page
    assert "Mon Thu" in page
    assert "2:00–3:50 pm" in page
    assert f'id="seats-{own.id}"' in page
    assert f"/teaching/sections/{own.id}" in page


def test_page_omits_sections_of_others(app: Flask, cast: Cast) -> None:
    a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)
    page = browser_of(app, "otto").get("/teaching").text
    assert "CSC-1100" not in page
    assert "No classes yet." in page


def test_each_term_has_a_page_with_live_counts(app: Flask, cast: Cast) -> None:
    fall, spring = a_term(), a_term("Spring 2031", starts_on=date(2031, 1, 20))
    course = a_course("CSC-1100")
    own = {term.id: a_section(course, term, instructor=cast.iris) for term in (fall, spring)}
    iris = browser_of(app, "iris")
    pages = {term.id: iris.get(f"/teaching?term={term.id}").text for term in (fall, spring)}
    for term, page in pages.items():
        assert LIVE.findall(page) == [str(term)]
        assert COUNTS.findall(page) == [str(own[term].id)]
        assert all(f'href="/teaching?term={other}"' in page for other in own)


def test_latest_term_is_shown_first(app: Flask, cast: Cast) -> None:
    fall, spring = a_term(), a_term("Spring 2031", starts_on=date(2031, 1, 20))
    for term in (fall, spring):
        a_section(a_course(f"CSC-{term.id}"), term, instructor=cast.iris)
    iris = browser_of(app, "iris")
    for query in ("", "?term=x", f"?term={2**30}"):
        assert LIVE.findall(iris.get(f"/teaching{query}").text) == [str(spring.id)]


def test_term_without_own_sections_is_not_offered(app: Flask, cast: Cast) -> None:
    other = a_term("Spring 2031")
    a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)
    assert f"term={other.id}" not in browser_of(app, "iris").get("/teaching").text
