"""GET and POST /admin/terms/<t>/sections/several: one change of many sections, and its undoing."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.catalog.section_fields import SectionDetails
from portal.catalog.sections import Stale
from portal.web.admin import bulk_edit
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast, Meets
from tests.web import pages
from tests.web.admin.sections.forms import change, details, errors, inputs, seats, stored, text_of
from tests.web.ledger_outage import ledger_away
from tests.web.visitors import browser_of

WHY = "A larger room was found."


@pytest.fixture
def others(term: Term, cast: Cast) -> list[Section]:
    """MAT 1-02 in Hall 1 on Tuesdays, with 5 seats, and PHY 1-03 without times, with 8."""
    times = (Meets("T", "09:00", "09:50", room="Hall 1"), Meets("F", "09:00", "09:50"))
    return [
        builders.a_section(
            builders.a_course("MAT-1"), term, capacity=5, meetings=times, instructor=cast.otto
        ),
        builders.a_section(builders.a_course("PHY-1"), term, capacity=8),
    ]


def several(term: int) -> str:
    return f"/admin/terms/{term}/sections/several"


def preview(admin: FlaskClient, chosen: list[Section], **fields: Any) -> TestResponse:
    form = {"section": [str(each.id) for each in chosen], **fields}
    return pages.send(admin, several(chosen[0].term_id), form)


def confirmed(admin: FlaskClient, page: TestResponse) -> TestResponse:
    """Confirm what a preview shows."""
    form = inputs(page.text)
    form["confirmed"], form["reason"] = "yes", WHY
    [path] = re.findall(r'<form class="form[^>]* action="([^"]+)"', page.text)
    return admin.post(path, data=form)


def undo(admin: FlaskClient, done: TestResponse) -> TestResponse:
    """Press Undo on the page that follows a change; return the preview."""
    page = admin.get(done.location).text
    form = page[: page.index("Undo</button>")].rpartition("<form")[2]
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form):
        found.setdefault(name, []).append(value)
    return pages.send(admin, several(int(done.location.split("/")[3])), found)


def capacities(sections: list[Section]) -> list[int]:
    return [details(each).capacity for each in sections]


@pytest.mark.parametrize(
    ("fields", "after"),
    [
        ({"change": "seats", "number": "7"}, [7, 7, 7]),
        ({"change": "more_seats", "number": "+3"}, [5, 8, 11]),
        ({"change": "more_seats", "number": "-4"}, [0, 1, 4]),
    ],
)
def test_seats_change_together_and_come_back(
    admin: FlaskClient,
    section: Section,
    others: list[Section],
    fields: dict[str, str],
    after: list[int],
) -> None:
    every = [section, *others]
    page = preview(admin, every, **fields)
    assert "Change 3 sections?" in text_of(page)
    assert f"Seats 2 {after[0]}" in text_of(page)
    assert capacities(every) == [2, 5, 8]
    done = confirmed(admin, page)
    assert done.status_code == 303
    assert capacities(every) == after
    assert [seats(each).capacity for each in every] == after
    assert {each.reason for each in entries() if each.action == "section.edit"} == {WHY}
    assert confirmed(admin, undo(admin, done)).status_code == 303
    assert capacities(every) == [2, 5, 8]
    assert [seats(each).capacity for each in every] == [2, 5, 8]


def test_a_change_is_undone_from_the_list_of_last_changes(
    app: Flask, admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    every, here = [section, *others], several(section.term_id)
    assert "Your last changes" not in admin.get(here).text
    confirmed(admin, preview(admin, every, change="seats", number="7"))
    listed = admin.get(here)
    assert "Your last changes Set the seats: 3 sections" in text_of(listed)
    builders.an_account("mona", is_admin=True)
    assert "Your last changes" not in browser_of(app, "mona").get(here).text
    again = admin.get(here)
    again.location = here
    review = undo(admin, again)
    assert "Undo the change of 3 sections?" in text_of(review)
    done = confirmed(admin, review)
    assert done.status_code == 303
    assert "The change of 3 sections is undone" in text_of(admin.get(done.location))
    assert capacities(every) == [2, 5, 8]
    page = admin.get(here).text
    assert page.count("Undo</button>") == 1  # of the undoing; the change itself is undone
    assert page.count("Set the seats: 3 sections") == 2


def test_a_change_that_was_refused_is_not_among_the_last(
    admin: FlaskClient, section: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = preview(admin, [section], change="seats", number="7")

    def refuse(*_plan: object) -> None:
        raise Stale(section.id)

    monkeypatch.setattr(bulk_edit, "_carry_out", refuse)
    assert confirmed(admin, page).status_code == 303
    assert "Your last changes" not in admin.get(several(section.term_id)).text


def rooms(found: SectionDetails) -> list[str]:
    return [each.room for each in found.meetings]


def test_a_room_is_set_and_each_meeting_gets_its_own_back(
    admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    page = preview(admin, [section, *others], change="room", room="Aula 9")
    said = text_of(page)
    assert "Change 2 sections?" in said
    assert "PHY 1-03: Nothing would change." in said  # it has no meetings
    assert "“Aula 9” is a new room. It will be added." in said
    done = confirmed(admin, page)
    assert rooms(details(section)) == ["Aula 9"]
    assert rooms(details(others[0])) == ["Aula 9", "Aula 9"]
    confirmed(admin, undo(admin, done))
    assert rooms(details(section)) == ["Hall 1"]
    assert rooms(details(others[0])) == ["Hall 1", ""]


def test_sections_that_would_clash_with_one_another_are_named(
    admin: FlaskClient, section: Section, term: Term
) -> None:
    times = (Meets("M", "11:00", "12:00", room="Hall 2"),)
    other = builders.a_section(builders.a_course("MAT-1"), term, meetings=times)
    said = text_of(preview(admin, [section, other], change="room", room="Aula 9"))
    assert "Aula 9 is taken by MAT 1-02 at the same time" in said
    assert "Aula 9 is taken by CSC 1100-01 at the same time" in said


def names(section: Section) -> list[str]:
    return [each.name for each in details(section).instructors]


def test_an_instructor_is_added_or_removed_and_all_come_back(
    admin: FlaskClient, section: Section, others: list[Section], cast: Cast
) -> None:
    every = [section, *others]
    iris, otto = cast.iris.name, cast.otto.name
    page = preview(admin, every, change="add_instructor", instructor=iris.upper())
    assert "CSC 1100-01: Nothing would change." in text_of(page)
    done = confirmed(admin, page)
    assert [names(each) for each in every] == [[iris], [iris, otto], [iris]]
    confirmed(admin, undo(admin, done))
    assert [names(each) for each in every] == [[iris], [otto], []]
    done = confirmed(admin, preview(admin, every, change="remove_instructor", instructor=iris))
    assert [names(each) for each in every] == [[], [otto], []]
    confirmed(admin, undo(admin, done))
    assert names(section) == [iris]


def test_a_status_changes_together_and_comes_back(
    admin: FlaskClient, section: Section, others: list[Section], term: Term
) -> None:
    draft = builders.a_section(builders.a_course("ART-1"), term, status="NEW")
    page = preview(admin, [section, *others, draft], change="confirm")
    assert "ART 1-04: The section is a draft: publish it first, or delete it." in text_of(page)
    done = confirmed(admin, page)
    every = [section, *others]
    assert {stored(each).status for each in every} == {"CONFIRMED"}
    assert {seats(each).status for each in every} == {"CONFIRMED"}
    confirmed(admin, undo(admin, done))
    assert {stored(each).status for each in every} == {"OPEN"}


def test_publishing_is_undone_where_no_student_is_in_a_section(
    app: Flask, admin: FlaskClient, term: Term
) -> None:
    drafts = [
        builders.a_section(builders.a_course(f"ART-{each}"), term, status="NEW") for each in (1, 2)
    ]
    page = preview(admin, drafts, change="publish")
    assert "You can undo this for a day, as long as no student is enrolled" in text_of(page)
    done = confirmed(admin, page)
    assert {stored(each).status for each in drafts} == {"OPEN"}
    pages.seat(builders.a_student("dora"), drafts[1])
    page = undo(admin, done)
    assert "ART 2-02: Students are enrolled or on the waitlist" in text_of(page)
    again = confirmed(admin, page)
    assert [stored(each).status for each in drafts] == ["NEW", "OPEN"]
    assert [seats(each).status for each in drafts] == ["NEW", "OPEN"]
    assert "ART 1" not in browser_of(app, "ada").get(f"/terms/{term.id}").text
    assert [each.action for each in entries()][-1] == "section.unpublish"
    confirmed(admin, undo(admin, again))
    assert stored(drafts[0]).status == "OPEN"


@pytest.mark.parametrize("fields", [{"undo": "yes"}, {}])
def test_only_an_undoing_makes_drafts(
    admin: FlaskClient, section: Section, fields: dict[str, str]
) -> None:
    page = preview(admin, [section], change="unpublish", **fields)
    assert page.status_code == (200 if fields else 422)
    assert stored(section).status == "OPEN"


def test_sections_are_canceled_after_their_students_were_shown(
    admin: FlaskClient, section: Section, others: list[Section], cast: Cast, term: Term
) -> None:
    pages.seat(cast.ada, section)
    draft = builders.a_section(builders.a_course("ART-1"), term, status="NEW")
    page = preview(admin, [section, *others, draft], change="cancel")
    assert "Cancel 3 sections?" in text_of(page)
    assert "ART 1-04: The section is a draft" in text_of(page)
    assert "1 student loses a seat." in text_of(page)
    assert confirmed(admin, page).status_code == 303
    assert {stored(each).status for each in [section, *others]} == {"CANCELED"}


def test_all_sections_that_a_search_finds_change(
    admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    path = several(section.term_id)
    shown = admin.get(f"{path}?q=mat").text
    assert "MAT" in shown
    assert "CSC" not in shown.partition("<table")[2].partition("</table>")[0]
    form = {"q": "mat", "all": "1", "change": "seats", "number": "9"}
    assert confirmed(admin, pages.send(admin, path, form)).status_code == 303
    assert capacities([section, *others]) == [2, 9, 8]


def test_the_same_form_sent_twice_changes_once(
    admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    page = preview(admin, [section, *others], change="more_seats", number="1")
    first, second = confirmed(admin, page), confirmed(admin, page)
    assert first.location == second.location
    assert capacities([section, *others]) == [3, 6, 9]


def test_a_section_that_was_changed_meanwhile_stops_all(
    admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    page = preview(admin, [section, *others], change="seats", number="7")
    change(admin, others[0], capacity=6)
    answer = confirmed(admin, page)
    assert capacities([section, *others]) == [2, 6, 8]
    said = text_of(admin.get(answer.location))
    assert "MAT 1-02: It has changed since." in said
    assert "Change 2 sections?" in said


def test_undoing_leaves_out_what_was_changed_since(
    admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    done = confirmed(admin, preview(admin, [section, *others], change="seats", number="7"))
    change(admin, others[0], capacity=6)
    page = undo(admin, done)
    assert "MAT 1-02: It has changed since." in text_of(page)
    confirmed(admin, page)
    assert capacities([section, *others]) == [2, 6, 8]


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({}, "Choose what to change."),
        ({"change": "nonsense"}, "Choose what to change."),
        ({"change": "delete"}, "Choose what to change."),
        ({"change": "instructors"}, "Choose what to change."),
        ({"change": "seats", "number": ""}, "Number: enter a whole number from 0 to 100,000."),
        ({"change": "seats", "number": "-1"}, "Number: enter a whole number from 0 to 100,000."),
        ({"change": "seats", "number": "abc"}, "Number: enter a whole number from 0 to 100,000."),
        (
            {"change": "seats", "number": "999999"},
            "Number: enter a whole number from 0 to 100,000.",
        ),
        (
            {"change": "more_seats", "number": "--1"},
            "Number: enter a whole number from -100,000 to 100,000.",
        ),
        ({"change": "add_instructor", "instructor": "Nobody"}, "Choose an instructor"),
    ],
)
def test_wrong_entries_are_named(
    admin: FlaskClient, section: Section, fields: dict[str, str], error: str
) -> None:
    page = preview(admin, [section], **fields)
    assert page.status_code == 422
    assert error in errors(page)
    assert details(section).capacity == 2


def test_sections_must_be_chosen(admin: FlaskClient, section: Section) -> None:
    page = pages.send(admin, several(section.term_id), {"change": "seats", "number": "7"})
    assert "Select the sections to change." in errors(page)


def test_a_reason_is_needed(admin: FlaskClient, section: Section) -> None:
    form = inputs(preview(admin, [section], change="seats", number="7").text)
    form["confirmed"] = "yes"
    page = pages.send(admin, several(section.term_id), form)
    assert "Enter a reason." in errors(page)
    assert details(section).capacity == 2


@pytest.mark.parametrize(
    ("name", "values"),
    [
        *(("seats", values) for values in (["many"], ["1", "2"], ["\0"], [])),
        *(("room", [room]) for room in ("\0", "x" * 81, " Hall  1 ")),
        *(("instructors", [number]) for number in ("0", "999999", "Iris")),
    ],
)
def test_hostile_values_of_an_undoing_change_nothing(
    admin: FlaskClient, section: Section, name: str, values: list[str]
) -> None:
    before = details(section)
    form = {"undo": "yes", "change": name, f"each_{section.id}": values}
    said = text_of(preview(admin, [section], **form))
    assert "Its earlier values no longer fit." in said
    assert details(section) == before


def test_only_what_was_reviewed_is_changed(admin: FlaskClient, section: Section) -> None:
    whole = {"section": str(section.id), "confirmed": "yes", "reason": WHY, "result": "1"}
    path = several(section.term_id)
    admin.post(path, data={**whole, "change": "seats", "number": "7"})  # without its version
    admin.post(path, data={**whole, "change": "cancel", f"version_{section.id}": "1"})
    seen = {f"version_{section.id}": str(stored(section).version), "result": ""}
    answer = admin.post(path, data={**whole, **seen, "change": "seats", "number": "7"})
    assert answer.status_code == 400
    assert (details(section).capacity, stored(section).status) == (2, "OPEN")


def test_too_many_sections_are_refused(
    admin: FlaskClient, section: Section, monkeypatch: pytest.MonkeyPatch, others: list[Section]
) -> None:
    monkeypatch.setattr(bulk_edit, "MOST", 2)
    page = preview(admin, [section, *others], change="seats", number="7")
    assert "Select at most 2 sections." in errors(page)
    path = several(section.term_id)
    page = pages.send(admin, path, {"all": "1", "change": "seats", "number": "7"})
    assert "Select at most 2 sections." in errors(page)


def test_the_same_form_sent_at_once_changes_once(
    app: Flask, admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    form = inputs(preview(admin, [section, *others], change="more_seats", number="1").text)
    form["confirmed"], form["reason"] = "yes", WHY
    browsers = [browser_of(app, "max") for _ in range(3)]
    with ThreadPoolExecutor() as pool:
        sent = [pool.submit(each.post, several(section.term_id), data=form) for each in browsers]
        answers = {each.result().location for each in sent}
    assert len(answers) == 1
    assert capacities([section, *others]) == [3, 6, 9]


def test_another_admins_change_since_the_review_stops_all(
    app: Flask, admin: FlaskClient, section: Section, others: list[Section]
) -> None:
    builders.an_account("moritz", is_admin=True)
    page = preview(admin, [section, *others], change="more_seats", number="1")
    other = browser_of(app, "moritz")
    assert confirmed(other, preview(other, [section], change="waitlist", number="1")).location
    said = text_of(admin.get(confirmed(admin, page).location))
    assert "CSC 1100-01: It has changed since." in said
    assert capacities([section, *others]) == [2, 5, 8]


def test_nothing_changes_while_the_ledger_cannot_keep_the_way_back(
    backend: Backend, admin: FlaskClient, section: Section
) -> None:
    page = preview(admin, [section], change="seats", number="7")
    with ledger_away(backend):
        assert confirmed(admin, page).status_code == 503
    assert details(section).capacity == 2


def test_a_scheduler_changes_only_sections_of_the_own_departments(
    app: Flask, section: Section, term: Term
) -> None:
    elsewhere = builders.a_department("ART")
    builders.an_account("sam", schedules_for=[elsewhere.id])
    sam = browser_of(app, "sam")
    assert "CSC 1100" not in sam.get(several(term.id)).text
    answer = preview(sam, [section], change="seats", number="7")
    assert answer.status_code == 403
    form = {"section": str(section.id), "change": "seats", "number": "7", "result": "1"}
    form |= {"confirmed": "yes", "reason": WHY, f"version_{section.id}": "1"}
    assert sam.post(several(term.id), data=form).status_code == 403
    assert details(section).capacity == 2


def test_seats_that_are_reserved_stay(admin: FlaskClient, section: Section) -> None:
    builders.a_student("sena", year="Senior")
    change(admin, section, reserves_0_seats=2, reserves_0_years="Senior")
    said = text_of(preview(admin, [section], change="seats", number="1"))
    assert "CSC 1100-01: 2 seats are reserved." in said
