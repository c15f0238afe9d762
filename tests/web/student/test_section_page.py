"""GET /terms/<t>/sections/<s>: all there is to know of a section."""

from typing import Any

from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import DIALOG, address, press, seat, words


def here(section: Any) -> str:
    return address(section, "").rstrip("/")


def test_row_leads_to_the_page_and_the_page_to_each_act(ada: FlaskClient, term: Any) -> None:
    builders.an_open_window(term)
    course = builders.a_course(description="Lists and trees.")
    section = builders.a_section(course, term)
    assert f'href="{here(section)}"' in ada.get(f"/terms/{term.id}").text
    page = ada.get(here(section)).text
    assert "Lists and trees." in page
    assert f'href="{address(section, "pick")}"' in page
    press(ada, section, "pick")
    page = ada.get(here(section)).text
    for act in ("swaps", "drop"):
        assert f'href="{address(section, act)}"' in page


def test_page_says_what_stands_in_the_way(ada: FlaskClient, term: Any, cast: Cast) -> None:
    builders.an_open_window(term)
    held = builders.a_section(builders.a_course("PHY-1"), term, meetings=(Meets(),))
    seat(cast.ada, held)
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, meetings=(Meets(),), **needs)
    page = ada.get(here(section)).text
    for code in ("time_conflict", "prerequisite"):
        assert f'data-reason="{code}"' in page
    assert "See what to do" in page
    assert "Add class" not in page


def test_page_works_as_a_dialog(ada: FlaskClient, term: Any) -> None:
    section = builders.a_section(builders.a_course(), term)
    page = ada.get(here(section), headers=DIALOG).text
    assert "<html" not in page
    assert f'data-counts="seats-{section.id}"' in page


def test_hidden_section_has_no_page(ada: FlaskClient, term: Any) -> None:
    hidden = builders.a_section(builders.a_course(public=False), term)
    assert ada.get(here(hidden)).status_code == 404


def test_the_room_of_a_single_meeting_does_not_repeat_its_time(ada: FlaskClient, term: Any) -> None:
    lab = Meets("W", "14:00", "16:50", kind="LAB", room="Alder 101")
    course = builders.a_course()
    one = builders.a_section(course, term, meetings=(lab,))
    two = builders.a_section(course, term, meetings=(lab, Meets(room="Birch 7")))
    page = words(ada.get(here(one)).text)
    assert "Lab Alder 101" in page
    assert page.count("2:00–4:50 pm") == 1
    page = words(ada.get(here(two)).text)
    assert "Lab Wed 2:00–4:50 pm, Alder 101" in page
    assert "10:00–11:50 am, Birch 7" in page
