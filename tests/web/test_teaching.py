"""GET /teaching."""

from flask import Flask

from tests.cast import Cast, Meets, a_course, a_section, a_term
from tests.web.visitors import browser_of


def test_it_lists_ones_own_sections_with_seats_and_times(app: Flask, cast: Cast) -> None:
    term = a_term()
    meets = (Meets("MR", "14:00", "15:50"),)
    own = a_section(a_course("CSC-1100"), term, teacher=cast.iris, meetings=meets)
    page = browser_of(app, "iris").get("/teaching").text
    assert "CSC-1100" in page
    assert "Mon Thu" in page
    assert "2:00–3:50 pm" in page
    assert f'id="seats-{own.id}"' in page
    assert f"/teaching/sections/{own.id}" in page


def test_it_does_not_list_the_sections_of_others(app: Flask, cast: Cast) -> None:
    a_section(a_course("CSC-1100"), a_term(), teacher=cast.iris)
    page = browser_of(app, "otto").get("/teaching").text
    assert "CSC-1100" not in page
    assert "No section is yours yet." in page
