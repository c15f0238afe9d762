"""GET and POST /admin/terms/<t>/sections/<s>/edit."""

from decimal import Decimal

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast, Meets
from tests.web.admin.sections.forms import (
    address,
    change,
    details,
    errors,
    filled,
    seats,
    send,
    stored,
    text_of,
    typed,
)
from tests.web.visitors import browser_of


def test_form_shows_the_current_values(admin: FlaskClient, section: Section) -> None:
    page = admin.get(address(section, "/edit")).text
    assert typed(page, "capacity") == "2"
    assert 'value="Iris"' in page
    assert 'value="Hall 1"' in page
    assert 'value="10:00"' in page


def test_nothing_changes_before_the_confirmation(admin: FlaskClient, section: Section) -> None:
    page = send(admin, section, capacity=9)
    assert page.status_code == 200
    assert "Seats 2 9" in text_of(page)
    assert page.text.count(">Save changes</button>") == 1
    assert details(section).capacity == 2
    assert seats(section).capacity == 2


def test_change_is_stored_and_used_by_the_ledger(admin: FlaskClient, section: Section) -> None:
    assert change(admin, section, capacity=9, waitlist=7).status_code == 303
    assert (details(section).capacity, details(section).waitlist) == (9, 7)
    assert (seats(section).capacity, seats(section).waitlist_capacity) == (9, 7)


def test_form_keeps_many_meetings(admin: FlaskClient, term: Term) -> None:
    each_hour = tuple(
        Meets("F", f"{8 + n // 4:02}:{n % 4 * 15:02}", f"{8 + n // 4:02}:{n % 4 * 15 + 10:02}")
        for n in range(25)
    )
    section = builders.a_section(builders.a_course("CSC-1"), term, meetings=each_hour)
    assert 'value="yes">Add a meeting' not in admin.get(address(section, "/edit")).text
    assert change(admin, section, capacity=9).status_code == 303
    assert details(section).capacity == 9
    assert len(details(section).meetings) == 25


def test_every_field_can_be_changed(admin: FlaskClient, section: Section, cast: Cast) -> None:
    fields = {
        "number": "02",
        "title": "Algorithms",
        "kind": "Seminar",
        "credits": "1-3",
        "campus": "North",
        "method": "Online",
        "note": "Bring a coat.\nAnd a hat.",
        "instructor": ["Otto", "", "Iris"],
        "prerequisites": "mat 1010 and (mat 1020 or mat 1030)",
        "corequisites": "CSC-1101",
        "restrictions": "must be level: Graduate\nmay not be major: Biology",
        "cross_lists": "ITS-1100, mat-9",
        "consent": "y",
    }
    assert change(admin, section, **fields).status_code == 303
    now = details(section)
    assert (now.number, now.title, now.kind) == ("02", "Algorithms", "Seminar")
    assert now.credits == (Decimal(1), Decimal(3))
    assert (now.campus, now.method, now.note) == ("North", "Online", "Bring a coat.\nAnd a hat.")
    assert {each.id for each in now.instructors} == {cast.iris.id, cast.otto.id}
    any_of = {"any": [{"course": "MAT-1020"}, {"course": "MAT-1030"}]}
    assert now.prerequisites == {"all": [{"course": "MAT-1010"}, any_of]}
    assert now.corequisites == {"course": "CSC-1101"}
    assert now.restrictions == (
        ("must_be", "level", "Graduate"),
        ("may_not_be", "major", "Biology"),
    )
    assert now.cross_lists == ("ITS-1100", "MAT-9")
    assert now.consent


def test_unchanged_form_changes_nothing(admin: FlaskClient, section: Section) -> None:
    answer = send(admin, section)
    assert answer.status_code == 422
    assert "You have not changed anything." in errors(answer)
    assert stored(section).version == 1


def test_all_errors_are_shown_at_once_with_the_input(admin: FlaskClient, section: Section) -> None:
    answer = send(
        admin,
        section,
        capacity="lots",
        waitlist=-1,
        credits="many",
        number="",
        instructor=["Nobody Known"],
        prerequisites="A-1 and B-1 or C-1",
        corequisites="(A-1",
        restrictions="only seniors",
        cross_lists="CSC-1100, what",
    )
    assert answer.status_code == 422
    wrong = errors(answer)
    for each in (
        "Seats: enter a whole number",
        "Waitlist capacity: enter a whole number",
        "Credits: enter a number such as 4",
        "Enter a section number",
        "No instructor is called “Nobody Known”",
        "Prerequisites: “and” and “or” are mixed",
        "Corequisites: A parenthesis is not closed",
        "Restrictions: Line 1: start with “must be”",
        "“what” is not a course code",
        "CSC 1100 is the section’s own course",
    ):
        assert each in wrong
    assert 'value="lots"' in answer.text
    assert "A-1 and B-1 or C-1</textarea>" in answer.text
    assert details(section).capacity == 2


def test_returning_to_the_form_shows_the_input(admin: FlaskClient, section: Section) -> None:
    answer = send(admin, section, capacity=9, edit="yes")
    assert answer.status_code == 200
    assert typed(answer.text, "capacity") == "9"


def test_change_is_audited_with_before_after_and_reason(
    admin: FlaskClient, section: Section, cast: Cast
) -> None:
    change(admin, section, capacity=1, reason="  The room is smaller. ")
    [entry] = entries()
    assert (entry.account_id, entry.action) == (cast.max.id, "section.edit")
    assert entry.subject == f"term:{section.term_id} section:{section.id}"
    assert entry.before
    assert entry.after
    assert (entry.before["capacity"], entry.after["capacity"]) == ("2", "1")
    assert entry.before["meetings"] == "Lecture, Mon Thu 10:00–11:50 am, Hall 1"
    assert entry.reason == "The room is smaller."


def test_change_raises_the_catalog_version(
    admin: FlaskClient, app: Flask, section: Section, cast: Cast
) -> None:
    ada, page = browser_of(app, "ada"), f"/terms/{section.term_id}/sections/{section.id}"
    assert "Algorithms" not in ada.get(page).text
    change(admin, section, title="Algorithms")
    assert "Algorithms" in ada.get(page).text
    assert cast.ada


@pytest.mark.parametrize(
    "fields",
    [
        {"capacity": 1},
        {"waitlist": 1},
        {"prerequisites": "MAT-1"},
        {"restrictions": "must be level: Graduate"},
    ],
)
def test_change_that_takes_something_from_students_needs_a_reason(
    admin: FlaskClient, section: Section, fields: dict[str, str]
) -> None:
    answer = change(admin, section, **fields, reason="")
    assert answer.status_code == 422
    assert "Enter a reason" in errors(answer)
    assert stored(section).version == 1
    assert change(admin, section, **fields).status_code == 303


def test_change_that_only_gives_needs_no_reason(admin: FlaskClient, section: Section) -> None:
    assert change(admin, section, capacity=3, note="More seats.", reason="").status_code == 303


def test_change_of_a_draft_needs_no_reason(admin: FlaskClient, term: Term) -> None:
    draft = builders.a_section(builders.a_course("CSC-1200"), term, status="NEW")
    assert "Students can’t see it" in text_of(send(admin, draft, capacity=1))
    assert change(admin, draft, capacity=1, reason="").status_code == 303


@pytest.mark.parametrize("state", [{"status": "CANCELED"}, {"deleted": True}])
def test_deleted_section_cannot_be_edited(
    admin: FlaskClient, term: Term, state: dict[str, str]
) -> None:
    gone = builders.a_section(builders.a_course("CSC-1200"), term, status="CANCELED")
    if "deleted" in state:
        admin.post(address(gone, "/delete"), data={"version": "1"})
    assert admin.get(address(gone, "/edit")).status_code == 422
    answer = change(admin, gone, capacity=9)
    assert answer.status_code == 422
    assert details(gone).capacity == 2


def test_section_of_another_term_is_not_found(admin: FlaskClient, section: Section) -> None:
    other = builders.a_term("Another")
    url = f"/admin/terms/{other.id}/sections/{section.id}/edit"
    assert admin.get(url).status_code == 404
    assert admin.post(url).status_code == 404


@pytest.mark.parametrize("fields", [{"capacity": 9}, {"capacity": "lots"}, {"more": "yes"}])
def test_preview_has_its_own_address(
    admin: FlaskClient, section: Section, fields: dict[str, str]
) -> None:
    answer = admin.post(address(section, "/edit"), data=filled(admin, section, **fields))
    assert answer.status_code == 303
    first, again = admin.get(answer.location), admin.get(answer.location)
    assert text_of(first) == text_of(again)
    assert details(section).capacity == 2


def test_expired_draft_starts_again(admin: FlaskClient, section: Section) -> None:
    page = admin.get(address(section, "/edit?draft=123"))
    assert "Your entries are no longer stored." in text_of(page)
    assert typed(page.text, "capacity") == "2"
