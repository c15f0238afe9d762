"""GET /teaching/sections/<id> and its roster."""

from html import unescape

import pytest
from flask import Flask
from sqlalchemy import delete, insert, update

from portal.catalog.models import Instructor, Section, Term, section_instructors
from portal.catalog.term_catalog import forget
from portal.core.db import transaction
from tests.cast import Cast, a_course, a_section, a_student, a_term, an_instructor
from tests.web.instructor.rosters import enrolled, reached_at, waiting
from tests.web.visitors import browser_of

PARTS = ["", "/roster", "/roster.csv", "/emails", "/emails?to=all"]


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """A section that iris teaches."""
    assert app
    return a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)


def share(section: Section, instructor: Instructor) -> None:
    """Another teacher beside the first."""
    with transaction() as session:
        taught = {"section_id": section.id, "instructor_id": instructor.id}
        session.execute(insert(section_instructors).values(taught))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    forget()


def roster(app: Flask, section: Section, username: str = "iris") -> str:
    return unescape(browser_of(app, username).get(f"/teaching/sections/{section.id}").text)


def test_roster_shows_enrolled_students(app: Flask, section: Section) -> None:
    enrolled(section, eve := a_student("eve", majors=("CSC", "MTH"), year="Senior"))
    reached_at(eve, "eve@u.example")
    page = roster(app, section)
    facts = ("Eve", eve.number, "Senior", "CSC, MTH", "eve@u.example", ">4<", "Mar 1, 9:00:05 am")
    for fact in facts:
        assert fact in page


def test_roster_omits_students_who_dropped(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada, state="dropped")
    page = roster(app, section)
    assert "Ada" not in page
    assert "No students yet." in page


def test_waitlist_is_in_order(app: Flask, section: Section, cast: Cast) -> None:
    waiting(section, cast.ben, ticket=9)
    waiting(section, cast.cleo, ticket=7, state="passed")
    waiting(section, cast.dan, ticket=5, state="promoted")
    page = roster(app, section)
    assert page.index("1. <bdi>Cleo") < page.index("Skipped") < page.index("2. <bdi>Ben")
    assert "Dan" not in page


def test_open_roster_updates_itself(app: Flask, section: Section) -> None:
    page = roster(app, section)
    assert f'hx-get="/teaching/sections/{section.id}/roster"' in page
    assert "fs:roster from:body" in page
    assert f'data-live-roster="{section.id}"' in page


def test_roster_fragment_has_no_page_around_it(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada)
    client = browser_of(app, "iris")
    part = client.get(f"/teaching/sections/{section.id}/roster").text
    assert "Ada" in part
    assert "<html" not in part


@pytest.mark.parametrize("part", PARTS)
def test_section_of_another_instructor_is_refused(app: Flask, section: Section, part: str) -> None:
    answer = browser_of(app, "otto").get(f"/teaching/sections/{section.id}{part}")
    assert answer.status_code == 403
    assert "You don’t have access" in answer.text


def test_admin_sees_every_roster(app: Flask, section: Section, cast: Cast) -> None:
    enrolled(section, cast.ada)
    assert "Ada" in roster(app, section, "max")


def test_all_instructors_of_a_section_see_its_roster(
    app: Flask, section: Section, cast: Cast
) -> None:
    enrolled(section, cast.ada)
    share(section, cast.otto)
    for name in ("iris", "otto"):
        page = roster(app, section, name)
        assert "Ada" in page
        assert "Taught by Iris, Otto" in page


def test_account_sees_sections_of_all_its_instructors(
    app: Flask, section: Section, cast: Cast
) -> None:
    enrolled(section, cast.ada)
    with transaction() as session:
        session.get_one(Instructor, cast.iris.id).account_id = cast.otto.account_id
    assert "Ada" in roster(app, section, "otto")
    assert "CSC-1100" in browser_of(app, "otto").get("/teaching").text
    other = a_section(a_course("CSC-1200"), a_term("Spring 2031"), instructor=an_instructor("eva"))
    assert browser_of(app, "otto").get(f"/teaching/sections/{other.id}").status_code == 403


def test_former_instructor_is_refused(app: Flask, section: Section) -> None:
    client = browser_of(app, "iris")
    with transaction() as session:
        session.execute(delete(section_instructors))
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
    forget()
    for part in PARTS:
        assert client.get(f"/teaching/sections/{section.id}{part}").status_code == 403


def test_unknown_section_is_not_found(app: Flask, section: Section) -> None:
    assert section
    assert browser_of(app, "iris").get("/teaching/sections/2000000000").status_code == 404
