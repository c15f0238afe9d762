"""Bands of waitlists: set by the registrar, published, and what students get by them."""

from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.catalog import term_catalog
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.client import Ledger
from portal.people import caches, student_profile
from portal.people.models import CompletedCourse, Student
from portal.recorder import receipts
from portal.recorder.models import WaitlistEntry
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from portal.web.admin import term_rules
from portal.windows import bands
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web import pages
from tests.web.api.callers import caller
from tests.web.pages import held, press, words
from tests.web.visitors import browser_of

WHY = "Seniors have no other chance."


@pytest.fixture
def section(term: Term, cast: Cast) -> Section:
    """A section of one seat; Cleo is a senior, Dan has 90 credits."""
    with transaction() as session:
        session.execute(update(Student).where(Student.id == cast.cleo.id).values(year="Senior"))
    many = {"course_code": "CSC-1", "grade": "A", "credits": 90}
    builders.added(CompletedCourse(student_id=cast.dan.id, **many))
    caches.apply_changes(None)
    builders.an_open_window(term)
    return builders.a_section(builders.a_course(), term, capacity=1)


def address(term: Term) -> str:
    return f"/admin/terms/{term.id}/rules/bands"


def set_bands(admin: FlaskClient, term: Term, text: str) -> Any:
    """Look over the bands, and confirm them."""
    page = admin.get(address(term), query_string={"bands": text})
    if page.status_code != 200:
        return page
    answer = admin.post(address(term), data={**pages.hidden(page.text), "reason": WHY})
    term_catalog.forget()
    return answer


def stored(term: Term) -> list[dict[str, Any]]:
    with transaction() as session:
        return list(session.scalars(select(Term.bands).where(Term.id == term.id)).one())


def test_bands_are_stored_with_a_reason_and_published(
    admin: FlaskClient, ada: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    assert set_bands(admin, term, "Year: senior\n\ncredits: 90; year: Freshman").status_code == 303
    assert stored(term) == [{"years": ["Senior"]}, {"years": ["Freshman"], "credits": 90}]
    (entry,) = entries()
    assert (entry.action, entry.account_id, entry.reason) == ("term.bands", cast.max.id, WHY)
    page = words(ada.get(pages.address(section, "").rstrip("/")).text)
    assert "1. students of class year Senior; 2. students of class year Freshman who" in page
    assert "Freshman who have 90 completed credits or more; 3. everyone else." in page
    assert "3. everyone else. Within a group: first come, first served." in page
    assert "You are in group 3 of 3." in page
    assert "first served" in words(admin.get(f"/admin/terms/{term.id}/rules").text)


def test_the_form_lists_what_a_line_may_say(
    admin: FlaskClient, section: Section, term: Term
) -> None:
    assert section
    page = words(admin.get(address(term)).text)
    for kind in ("year: ", "level: ", "major: ", "credits: 90", "major of the course"):
        assert kind in page.partition("Conditions that you can write")[2]
    assert "Freshman" in page


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("seniors first", "Line 1: “seniors first” is not a condition"),
        ("year: Senior\n\nyear: Seniors", "Line 3: No student has “Seniors”."),
        ("year: Seniors", "No student has “Seniors”."),
        ("year: Seniors\ncredits: 0", "No student has “Seniors”. Choose from:"),
        ("year: Seniors\ncredits: 0", "Line 2: Credits: enter a whole number such as 90"),
        ("year:  ,", "A name is missing"),
        ("credits: many", "enter a whole number"),
        ("credits: 0", "enter a whole number"),
        ("year: Senior\nyear: senior", "This group is listed twice"),
        ("year: Senior; year: Freshman", "A condition comes twice"),
        ("credits: 90; credits: 60", "A condition comes twice"),
        ("major of the course; Major of the course", "A condition comes twice"),
        (" ; ", "This line has no condition"),
        (f"year: Senior; major: {'CSC, ' * 120}", "Write at most 500 characters a line"),
        ("\n".join(f"credits: {number}" for number in range(1, 10)), "at most 8 groups"),
    ],
)
def test_bands_that_make_no_sense_are_refused(
    admin: FlaskClient, section: Section, term: Term, text: str, why: str
) -> None:
    assert section
    answer = set_bands(admin, term, text)
    assert answer.status_code == 422
    assert why in unescape(words(answer.text))
    assert stored(term) == []


def test_bands_stay_while_students_wait(
    app: Flask, admin: FlaskClient, section: Section, term: Term
) -> None:
    for name in ("ada", "ben"):
        press(browser_of(app, name), section, "pick")
    answer = set_bands(admin, term, "year: Senior")
    assert answer.status_code == 409
    assert "You can change the groups once no one is waiting." in words(answer.text)
    press(browser_of(app, "ben"), section, "leave")
    drain(term.id)
    assert set_bands(admin, term, "year: Senior").status_code == 303
    assert set_bands(admin, term, "").status_code == 303
    assert stored(term) == []


def test_bands_that_another_admin_changed_are_not_overwritten(
    admin: FlaskClient, section: Section, term: Term
) -> None:
    assert section
    page = admin.get(address(term), query_string={"bands": "year: Senior"})
    set_bands(admin, term, "credits: 90")
    answer = admin.post(address(term), data={**pages.hidden(page.text), "reason": WHY})
    assert answer.status_code == 409
    assert stored(term) == [{"credits": 90}]


def test_second_of_two_admins_at_once_reads_so(
    admin: FlaskClient, section: Section, term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert section
    page = admin.get(address(term), query_string={"bands": "year: Senior"})
    with transaction() as session:
        stale = session.get_one(Term, term.id)
    with transaction() as session:
        session.execute(update(Term).where(Term.id == term.id).values(bands=[{"credits": 90}]))
    monkeypatch.setattr(term_rules, "term_or_404", lambda _term_id: stale)
    answer = admin.post(address(term), data={**pages.hidden(page.text), "reason": WHY})
    assert answer.status_code == 409
    assert "Someone else has changed this." in words(answer.text)
    assert stored(term) == [{"credits": 90}]


def test_bands_stay_while_a_ledger_without_its_data_forgets_who_waits(
    app: Flask,
    admin: FlaskClient,
    section: Section,
    term: Term,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ada", "ben"):
        press(browser_of(app, name), section, "pick")
    drain(term.id)
    monkeypatch.setattr(Ledger, "seats", lambda *_: {})
    assert set_bands(admin, term, "year: Senior").status_code == 409
    assert stored(term) == []


def test_minors_are_no_majors(section: Section, term: Term, cast: Cast) -> None:
    assert section
    assert term
    profile = replace(
        student_profile.read(cast.ada.id),
        majors=frozenset({"MAT"}),
        minors=frozenset({"CSC"}),
    )
    view = term_catalog.current(term.id).section(section.id)
    assert view
    assert bands.band_of(profile, view, [{"subjects": ["CSC"]}]) == 2
    assert bands.band_of(profile, view, [{"subjects": ["MAT"]}]) == 1


def test_a_seat_goes_to_the_first_band_and_everyone_can_read_why(
    app: Flask, admin: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    set_bands(admin, term, "year: Senior\ncredits: 90")
    ada, ben, cleo, dan = (browser_of(app, name) for name in ("ada", "ben", "cleo", "dan"))
    press(ada, section, "pick")
    press(ben, section, "pick")
    form = words(dan.get(pages.address(section, "pick")).text)
    assert "You would be number 1 on the waitlist." in form
    assert "You are in group 2 of 3." in form
    assert "Your group does not change after you join." in form
    press(dan, section, "pick")
    press(cleo, section, "pick")
    mine = words(ben.get(f"/terms/{term.id}/mine").text)
    assert "Position 3 of 3" in mine
    assert "You are in group 3 of 3. Your position moves back" in mine
    found = caller(app, "dan").get(f"/students/{cast.dan.id}/waitlist", semester_id=term.id).json
    (entry,) = found["data"]["waitlist"]
    assert (entry["band"], entry["waitlist_position"]) == (2, 2)
    drain(term.id)
    code = receipts.history(cast.dan.id, term.id).receipts[0].code
    assert "You joined in group 2." in words(dan.get(f"/receipts/{code}").text)
    with transaction() as session:
        rows = select(WaitlistEntry.student_id, WaitlistEntry.band)
        by_student = dict(session.execute(rows).all())
    assert by_student == {cast.ben.id: 3, cast.dan.id: 2, cast.cleo.id: 1}
    roster = words(admin.get(f"/teaching/sections/{section.id}").text)
    assert roster.index("1. Cleo") < roster.index("2. Dan") < roster.index("3. Ben")
    press(ada, section, "drop")
    promote(term.id, "")
    assert held(term, cast.cleo) == [section.id]


def test_majors_of_the_course_come_first(
    app: Flask, admin: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    assert section
    eva = builders.a_student("eva", ("MAT",))
    other = builders.a_section(builders.a_course("MAT-1"), term, capacity=1)
    set_bands(admin, term, "major of the course")
    for name in ("ada", "ben", "eva"):
        press(browser_of(app, name), other, "pick")
    press(browser_of(app, "ada"), other, "drop")
    promote(term.id, "")
    assert (held(term, eva), held(term, cast.ben)) == ([other.id], [])
