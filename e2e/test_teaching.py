"""Iris teaches, Max decides, and the students beside them see what comes of it."""

import re

import pytest
from playwright.sync_api import expect

from e2e.contrast import DESKTOP, PHONE
from e2e.person import Meet
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.instructor_requests import service
from portal.people.models import Account, Student
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.ledger_claims import claim

TIMEOUT = 60.0  # seconds


@pytest.fixture(scope="module")
def vera(cast: Cast) -> Student:
    """A senior whom one can write to."""
    assert cast
    vera = builders.a_student("vera", year="Senior")
    with transaction() as session:
        session.get_one(Account, vera.account_id).email = "vera@u.example"
    return vera


def test_a_roster_follows_its_students_and_their_privacy(
    meet: Meet, term: Term, last_seat: Section, cast: Cast, vera: Student
) -> None:
    builders.an_open_window(term)
    claim(cast.ben, last_seat)
    claim(vera, last_seat)
    iris = meet("iris").listen(f"/teaching/sections/{last_seat.id}")
    roster, line = (iris.page.get_by_role("region", name=name) for name in ("Roster", "Waitlist"))
    expect(roster).to_contain_text("Ben")
    expect(line).to_contain_text("1. Vera")
    expect(line).to_contain_text("vera@u.example")

    student = meet("vera")
    student.go("/account")
    student.page.get_by_role("button", name="Hide my details").click()
    expect(student.page.locator("main")).to_contain_text("Your details are private.")
    expect(line).not_to_contain_text("vera@u.example")
    expect(line).to_contain_text("Private")

    search = iris.page.get_by_label("Search in the list")
    search.press_sequentially("ver")
    expect(line).to_contain_text("1 of 1")
    expect(roster).to_contain_text("No enrolled student matches.")
    ben = meet("ben").enter(term)
    ben.ask(last_seat)
    ben.confirm()
    expect(roster).to_contain_text("Vera")
    expect(line).to_contain_text("The waitlist is empty.")
    expect(search).to_be_focused()
    expect(search).to_have_value("ver")


def test_seats_that_are_asked_for_reach_who_waits(
    meet: Meet, term: Term, last_seat: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    claim(cast.ben, last_seat)
    claim(cast.cleo, last_seat)
    # An older one stands above it.
    service.request_override(
        last_seat.id, cast.dan.id, ["restriction"], "x", cast.iris.account_id or 0
    )
    cleo, admin, iris = meet("cleo").enter(term), meet("max"), meet("iris")
    with admin.page.expect_websocket():
        admin.go("/admin/requests")
    cleo.has(last_seat, "waiting")

    iris.go(f"/teaching/sections/{last_seat.id}")
    iris.page.get_by_role("link", name="Ask for more seats").click()
    iris.page.get_by_label("New number of seats").fill("3")
    iris.page.get_by_label("Why").fill("One of them has to graduate.")
    iris.page.get_by_role("button", name="Send request").click()
    expect(iris.page.locator(".request-row").first).to_contain_text("Open")

    expect(admin.page.locator("#toasts")).to_contain_text("Iris requests 3 seats")
    asked = admin.page.locator(".request-row", has_text="One of them has to graduate.")
    asked.get_by_role("link", name="Decide").click()
    expect(admin.page.locator("main")).to_contain_text(
        "The first student on the waitlist gets a seat at once"
    )
    admin.page.get_by_label("Number of seats").fill("2")
    admin.page.get_by_role("button", name="Approve").click()
    expect(admin.page.locator("#toasts")).to_contain_text("Approved")

    cleo.has(last_seat, "selected")
    expect(cleo.page.locator("#toasts")).to_contain_text("You got a seat")
    expect(iris.page.locator(".request-row").first).to_contain_text("Approved")
    expect(iris.page.locator(".request-row").first).to_contain_text("In part: 2 seats")
    expect(iris.page.locator("#toasts")).to_contain_text("now has 2 seats")


def test_each_meeting_of_a_class_has_a_line_of_its_own(
    meet: Meet, term: Term, course: Course, cast: Cast
) -> None:
    two = (Meets("TR", "14:00", "15:20"), Meets("T", "16:00", "17:50"))
    section = builders.a_section(course, term, meetings=two, instructor=cast.iris)
    iris, boss = meet("iris"), meet("max")
    iris.go(f"/teaching?term={term.id}")
    boss.go(f"/admin/terms/{term.id}/sections")
    for person in (iris, boss):
        for screen in (DESKTOP, PHONE):
            person.page.set_viewport_size(screen)
            lines = person.page.locator("tbody tr", has_text=section.crn).locator(".row-meeting")
            expect(lines).to_have_text([re.compile("2:00–3:20"), re.compile("4:00–5:50")])
            first, second = (each.bounding_box() for each in lines.all())
            assert first
            assert second
            assert second["y"] >= first["y"] + first["height"]
            assert second["x"] == first["x"]


def test_the_audit_trail_is_searched_down_to_what_was_changed(meet: Meet, term: Term) -> None:
    walt, admin = builders.a_student("walt"), meet("max")
    admin.go(f"/admin/students/{walt.id}/privacy")
    reason = f"In writing, {term.name}"
    admin.page.get_by_label("Reason").fill(reason)
    admin.page.get_by_role("button", name="Hide details from instructors").click()
    expect(admin.page.locator("#toasts")).to_contain_text("Saved.")

    admin.page.get_by_role("link", name="Audit trail", exact=True).click()
    admin.page.get_by_label("Words in the reason").fill(reason.upper())
    admin.page.get_by_role("button", name="Search").click()
    row = admin.page.locator(".trail tbody tr")
    expect(row).to_have_count(1)
    expect(row).to_contain_text("Walt")
    row.get_by_role("link", name="Privacy changed").click()
    main = admin.page.locator("main")
    expect(main).to_contain_text(reason)
    expect(main.get_by_role("row", name="Privacy")).to_contain_text("Yes")
    main.get_by_role("link", name="Audit trail of this record").click()
    expect(admin.page.get_by_label("Record")).to_have_value(f"student:{walt.id}")
