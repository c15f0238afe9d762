"""GET /teaching/sections/<id> and its roster."""

from datetime import UTC, datetime
from html import unescape

import pytest
from flask import Flask

from portal.catalog.models import Section
from portal.db import transaction
from portal.people.models import Student
from portal.record.models import Enrollment, WaitlistPlace
from tests.cast import Cast, a_course, a_section, a_student, a_term
from tests.web.visitors import browser_of

SINCE = datetime(2030, 3, 1, 14, 0, 5, tzinfo=UTC)


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """A section that iris teaches."""
    assert app
    return a_section(a_course("CSC-1100"), a_term(), teacher=cast.iris)


def enrolled(section: Section, student: Student, seq: int = 1, state: str = "enrolled") -> None:
    at = {"state": state, "credits": 400, "registration": seq, "since": SINCE, "seq": seq}
    place = {"term_id": section.term_id, "section_id": section.id, "student_id": student.id}
    with transaction() as session:
        session.add(Enrollment(**place, **at))


def waiting(section: Section, student: Student, ticket: int, state: str = "waiting") -> None:
    at = {"state": state, "credits": 400, "ticket": ticket, "since": SINCE, "seq": ticket}
    place = {"term_id": section.term_id, "section_id": section.id, "student_id": student.id}
    with transaction() as session:
        session.add(WaitlistPlace(**place, **at))


def roster(app: Flask, section: Section, username: str = "iris") -> str:
    return unescape(browser_of(app, username).get(f"/teaching/sections/{section.id}").text)


def test_it_shows_who_is_in_the_class(app: Flask, section: Section) -> None:
    enrolled(section, eve := a_student("eve", majors=("CSC", "MTH"), year="Senior"))
    page = roster(app, section)
    for fact in ("Eve", eve.number, "Senior", "CSC, MTH", ">4<", "Mar 1, 9:00:05 am"):
        assert fact in page


def test_who_has_dropped_is_not_on_it(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada, state="dropped")
    page = roster(app, section)
    assert "Ada" not in page
    assert "Nobody is in this class yet." in page


def test_the_waitlist_stands_in_its_order(app: Flask, section: Section, cast: Cast) -> None:
    waiting(section, cast.ben, ticket=9)
    waiting(section, cast.cleo, ticket=7, state="passed")
    waiting(section, cast.dan, ticket=5, state="promoted")
    page = roster(app, section)
    assert page.index("1. Cleo") < page.index("Passed over") < page.index("2. Ben")
    assert "Dan" not in page


def test_the_page_shows_itself_anew_when_the_roster_moves(app: Flask, section: Section) -> None:
    page = roster(app, section)
    assert f'hx-get="/teaching/sections/{section.id}/roster"' in page
    assert "fs:roster from:body" in page
    assert f'data-live-roster="{section.id}"' in page


def test_the_roster_alone_comes_without_a_page(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada)
    client = browser_of(app, "iris")
    part = client.get(f"/teaching/sections/{section.id}/roster").text
    assert "Ada" in part
    assert "<html" not in part


@pytest.mark.parametrize("part", ["", "/roster"])
def test_a_section_of_someone_else_is_refused(app: Flask, section: Section, part: str) -> None:
    answer = browser_of(app, "otto").get(f"/teaching/sections/{section.id}{part}")
    assert answer.status_code == 403
    assert "not yours to open" in answer.text


@pytest.mark.parametrize("part", ["", "/roster"])
def test_students_see_no_rosters(app: Flask, section: Section, part: str) -> None:
    answer = browser_of(app, "ada").get(f"/teaching/sections/{section.id}{part}")
    assert answer.status_code == 403


def test_an_admin_sees_every_roster(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada)
    assert "Ada" in roster(app, section, "max")


def test_a_section_that_does_not_exist_is_not_found(app: Flask, section: Section) -> None:
    assert section
    assert browser_of(app, "iris").get("/teaching/sections/2000000000").status_code == 404
