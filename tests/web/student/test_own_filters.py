"""GET /terms/<t>?fits=1&meets=1: the filters about the student."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.people.models import Permission
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.pages import HTMX, seat
from tests.web.student.plans import plan_section

MORNING, NOON = (Meets("MR", "09:00", "10:50"),), (Meets("MR", "12:00", "13:50"),)


@pytest.fixture
def held(term: Any, cast: Cast) -> Any:
    """Return a class of Ada's on Monday and Thursday morning."""
    section = builders.a_section(builders.a_course("PHY-1"), term, meetings=MORNING)
    seat(cast.ada, section)
    return section


def listed(client: FlaskClient, term: Any, query: str) -> str:
    headers = {**HTMX, "HX-Target": "results"}
    return client.get(f"/terms/{term.id}?{query}", headers=headers).text


def shows(page: str, section: Any) -> bool:
    return f'id="section-{section.id}"' in page


def test_sections_at_the_time_of_a_class_do_not_fit(ada: FlaskClient, term: Any, held: Any) -> None:
    clashing = builders.a_section(builders.a_course("ART-1"), term, meetings=MORNING)
    free = builders.a_section(builders.a_course("BIO-1"), term, meetings=NOON)
    arranged = builders.a_section(builders.a_course("CHE-1"), term)
    page = listed(ada, term, "fits=1")
    assert not shows(page, clashing)
    assert all(shows(page, each) for each in (held, free, arranged))


def test_a_planned_section_counts_as_a_class(ada: FlaskClient, term: Any) -> None:
    planned = builders.a_section(builders.a_course("ART-1"), term, meetings=MORNING)
    clashing = builders.a_section(builders.a_course("BIO-1"), term, meetings=MORNING)
    plan_section(ada, planned)
    page = listed(ada, term, "fits=1")
    assert (shows(page, planned), shows(page, clashing)) == (True, False)


def test_a_section_of_the_same_course_fits_as_it_would_be_swapped(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    course = builders.a_course("ART-1")
    mine, other = (builders.a_section(course, term, meetings=MORNING) for _ in range(2))
    seat(cast.ada, mine)
    assert shows(listed(ada, term, "fits=1"), other)


def test_a_clash_in_another_half_of_the_term_fits(ada: FlaskClient, term: Any, cast: Cast) -> None:
    first, second = ("2030-08-26", "2030-10-18"), ("2030-10-21", "2030-12-20")
    mine = builders.a_section(
        builders.a_course("ART-1"), term, meetings=(MORNING[0]._replace(dates=first),)
    )
    later = builders.a_section(
        builders.a_course("BIO-1"), term, meetings=(MORNING[0]._replace(dates=second),)
    )
    seat(cast.ada, mine)
    assert shows(listed(ada, term, "fits=1"), later)


@pytest.mark.usefixtures("held")
def test_a_permitted_clash_fits(ada: FlaskClient, term: Any, cast: Cast) -> None:
    clashing = builders.a_section(builders.a_course("ART-1"), term, meetings=MORNING)
    waived = {"waives": ["time_conflict"], "reason": "By the dean."}
    builders.added(Permission(student_id=cast.ada.id, section_id=clashing.id, **waived))
    assert shows(listed(ada, term, "fits=1"), clashing)


def test_sections_whose_requirements_i_lack_can_be_left_out(ada: FlaskClient, term: Any) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    barred = builders.a_section(builders.a_course("ART-1"), term, **needs)
    free = builders.a_section(builders.a_course("BIO-1"), term)
    page = listed(ada, term, "meets=1")
    assert (shows(page, barred), shows(page, free)) == (False, True)
    assert shows(listed(ada, term, ""), barred)


def test_both_stay_after_a_refresh(ada: FlaskClient, term: Any) -> None:
    builders.a_section(builders.a_course(), term)
    headers = {**HTMX, "HX-Target": "results"}
    answer = ada.get(f"/terms/{term.id}?fits=1&meets=1&open=", headers=headers)
    assert answer.headers["HX-Replace-Url"] == f"/terms/{term.id}?fits=1&meets=1"
    page = ada.get(f"/terms/{term.id}?fits=1&meets=1").text
    assert 'name="fits" value="1" checked' in page
    assert 'name="meets" value="1" checked' in page
