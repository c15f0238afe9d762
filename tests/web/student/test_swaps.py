"""GET /terms/<t>/sections/<s>/swaps."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import Meets
from tests.web.pages import DIALOG, address, press, words


@pytest.fixture
def course(term: Any) -> list[Any]:
    """Return four sections of a course; the third is a draft, the fourth has a conflict."""
    made = builders.a_course()
    at_nine = (Meets("MR", "09:00", "09:50"),)
    return [
        builders.a_section(made, term),
        builders.a_section(made, term, capacity=7),
        builders.a_section(made, term, status="NEW"),
        builders.a_section(made, term, meetings=at_nine),
        builders.a_section(builders.a_course("MAT-1"), term, meetings=at_nine),
    ]


def test_page_lists_other_sections_with_seats_and_links(
    ada: FlaskClient, course: list[Any]
) -> None:
    mine, second, draft, fourth, other = course
    press(ada, mine, "pick")
    page = ada.get(address(mine, "swaps")).text
    assert "Swap CSC 1100-01 for which section?" in words(page)
    assert "7 of 7 open" in words(page)
    for each in (second, fourth):
        assert f'href="{address(each, "swap")}?swap_out={mine.id}"' in page
    for each in (mine, draft, other):
        assert f'href="{address(each, "swap")}?swap_out={mine.id}"' not in page


def test_page_shows_why_a_swap_would_be_refused(ada: FlaskClient, course: list[Any]) -> None:
    mine, *_, other = course
    press(ada, mine, "pick")
    press(ada, other, "pick")
    assert "It meets at the same time as your MAT 1-05" in words(
        ada.get(address(mine, "swaps")).text
    )


def test_page_works_as_a_dialog(ada: FlaskClient, course: list[Any]) -> None:
    press(ada, course[0], "pick")
    page = ada.get(address(course[0], "swaps"), headers=DIALOG).text
    assert "<html" not in page
    assert f'hx-get="{address(course[1], "swap")}?swap_out={course[0].id}"' in page


def test_section_not_held_has_no_swaps(ada: FlaskClient, course: list[Any]) -> None:
    page = ada.get(address(course[0], "swaps")).text
    assert 'data-reason="not_enrolled"' in page
    assert "swap?swap_out=" not in page
