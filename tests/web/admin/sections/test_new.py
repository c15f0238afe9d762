"""GET and POST /admin/terms/<t>/sections/new."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from portal.catalog import deletion
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.runtime.cluster.replicated_ledger import until
from tests.statements import waits_for_a_lock
from tests.web import pages
from tests.web.admin.sections.forms import details, errors, seats, text_of, typed
from tests.web.visitors import browser_of


def address(term: Term, rest: str = "") -> str:
    return f"/admin/terms/{term.id}/sections{rest}"


def form(course: Course, **fields: Any) -> MultiDict[str, str]:
    """Return a form with everything that a section needs."""
    given = {
        "course": course.id,
        "crn": "7001",
        "number": "02",
        "capacity": "12",
        "waitlist": "3",
        "credits": "4",
        "meetings_0_days": ["Tue", "Fri"],
        "meetings_0_starts": "09:00",
        "meetings_0_ends": "10:20",
        "meetings_0_room": "Hall 9",
        **fields,
    }
    return MultiDict(given)


def made(term: Term) -> list[Section]:
    with transaction() as session:
        found = select(Section).where(Section.term_id == term.id).order_by(Section.id)
        return list(session.scalars(found))


def make(admin: FlaskClient, term: Term, course: Course, **fields: Any) -> TestResponse:
    return pages.send(admin, address(term, "/new"), form(course, confirmed="yes", **fields))


def test_course_is_found_by_code_or_title(admin: FlaskClient, term: Term) -> None:
    one = builders.a_course("CSC-1100", title="Data Structures")
    other = builders.a_course("CSC-1200", title="Algorithms")
    builders.a_section(other, term)
    assert f"course={one.id}" in admin.get(address(term, "/new?q=csc1100")).text
    page = admin.get(address(term, "/new?q=algo"))
    assert f"course={other.id}" in page.text
    assert "1 section this term" in text_of(page)
    assert f"course={one.id}" not in page.text
    assert "No course matches." in admin.get(address(term, "/new?q=zzz")).text


def test_form_is_filled_in_from_the_course(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    page = admin.get(address(term, f"/new?course={section.course_id}")).text
    assert typed(page, "number") == "02"
    assert typed(page, "credits") == "4"
    assert typed(page, "crn") == str(int(section.crn) + 1)


def test_new_section_is_a_hidden_draft(
    app: Flask, admin: FlaskClient, term: Term, cast: Cast
) -> None:
    answer = make(admin, term, builders.a_course("CSC-1100"))
    [section] = made(term)
    assert answer.location.endswith(f"/sections/{section.id}")
    assert (section.status, section.crn, seats(section).status) == ("NEW", "7001", "NEW")
    [meeting] = details(section).meetings
    assert (meeting.days, meeting.times, meeting.room) == ("Tue Fri", "9:00–10:20 am", "Hall 9")
    assert (meeting.first, meeting.last) == (term.starts_on, term.ends_on)
    page = browser_of(app, "ada").get(f"/terms/{term.id}").text
    assert f'id="section-{section.id}"' not in page
    [entry] = entries()
    assert (entry.account_id, entry.action, entry.before) == (cast.max.id, "section.create", None)


def test_new_section_is_previewed_first(admin: FlaskClient, term: Term) -> None:
    answer = pages.send(admin, address(term, "/new"), form(builders.a_course("CSC-1100")))
    result = text_of(answer)
    assert "Create this section?" in result
    assert "Tue Fri 9:00–10:20 am, Hall 9" in result
    assert "“Hall 9” is a new room" in result
    assert not made(term)
    assert re.search(r'<input type="hidden" name="meetings_0_starts" value="09:00">', answer.text)


def test_crn_is_unique(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("CSC-1100")
    make(admin, term, course)
    answer = make(admin, term, course)
    assert answer.status_code == 422
    assert "Another section of this term has this CRN." in errors(answer)
    assert len(made(term)) == 1


def test_course_that_is_deleted_meanwhile_gets_no_section(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    course = builders.a_course("CSC-1100")
    with ThreadPoolExecutor(1) as pool:
        with transaction() as session:
            record = deletion.find(session, "course", course.id)
            assert record
            deletion.change(session, record, delete=True, by=cast.max.id, reason="Not taught.")
            answer = pool.submit(make, admin, term, course)
            until(lambda: answer.done() or waits_for_a_lock())
        page = admin.get(answer.result().location)
    assert "The course was deleted meanwhile." in text_of(page)
    assert not made(term)


def test_meetings_can_be_added_and_removed(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("CSC-1100")
    page = pages.send(admin, address(term, "/new"), form(course, more="yes")).text
    assert 'id="meetings_1_starts"' in page
    assert typed(page, "meetings_0_starts") == "09:00"
    more = {"meetings_1_days": ["Mon"], "meetings_1_starts": "13:00", "meetings_1_ends": "14:00"}
    make(admin, term, course, meetings_0_gone="1", **more)
    [section] = made(term)
    assert [each.days for each in details(section).meetings] == ["Mon"]


def test_blanks_around_times_and_days_do_not_count(admin: FlaskClient, term: Term) -> None:
    course = builders.a_course("CSC-1100")
    day = f"{term.starts_on.isoformat()} "
    times = {"meetings_0_starts": " 13:00", "meetings_0_ends": "14:00 ", "meetings_0_first": day}
    make(admin, term, course, meetings_0_days=["Mon"], **times)
    [section] = made(term)
    assert [each.start for each in details(section).meetings] == [13 * 60]


def test_all_errors_of_meetings_are_shown_at_once(admin: FlaskClient, term: Term) -> None:
    fields = {
        "meetings_0_days": [],
        "meetings_1_days": ["Mon"],
        "meetings_1_starts": "10:00",
        "meetings_1_ends": "24:05",
        "meetings_2_days": ["Mon"],
        "meetings_2_starts": "10:00",
        "meetings_2_ends": "10:00",
        "meetings_2_first": "2030-10-01",
        "meetings_2_last": "2030-09-01",
        "meetings_3_days": ["Mon"],
        "meetings_3_starts": "10:00",
        "meetings_3_first": "0203-10-01",
        "meetings_3_last": "soon",
        "meetings_3_room": "R" * 81,
        "crn": "no spaces",
    }
    answer = make(admin, term, builders.a_course("CSC-1100"), **fields)
    wrong = errors(answer)
    for each in (
        "Meeting 1: choose the days.",
        "Meeting 2: enter a time such as 14:30.",
        "Meeting 3: the end time must be after the start time.",
        "Meeting 3: the last day must not be before the first.",
        "Meeting 4: enter both times, or leave both blank if they are not decided yet.",
        "Meeting 4: that date is far from the term. Check the year.",
        "Meeting 4: enter a date such as 2030-08-26.",
        "Meeting 4: enter at most 80 characters.",
        "CRN: enter at most 24 letters or digits",
    ):
        assert each in wrong
    assert not made(term)


def test_unknown_course_is_refused(admin: FlaskClient, term: Term) -> None:
    assert admin.post(address(term, "/new"), data={"course": "99999"}).status_code == 400
    assert admin.get(address(term, "/new?course=99999")).status_code == 404
