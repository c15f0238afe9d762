"""Whom a change affects, and what an admin should mind, before it is made."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.sections.conftest import MORNING
from tests.web.admin.sections.forms import change, details, errors, place, said, seats, send
from tests.web.pages import press
from tests.web.student.seat_pools import share
from tests.web.visitors import browser_of

NOON = Meets("MR", "12:00", "13:20", kind="LEC", room="Hall 1")
TO_NOON = {"meetings_0_starts": "12:00", "meetings_0_ends": "13:20"}


@pytest.fixture
def lunch(term: Term) -> Any:
    return builders.a_section(builders.a_course("MAT-1000"), term, meetings=(NOON,))


@pytest.fixture
def full(app: Flask, section: Section) -> Section:
    """Ada and Ben have its seats, and Cleo waits."""
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    return section


def test_fewer_seats_than_are_taken_throw_nobody_out(admin: FlaskClient, full: Section) -> None:
    told = said(send(admin, full, capacity=1))
    assert "2 seats are taken, 1 student waits." in told
    assert "That is 1 seat fewer than are taken. Nobody is thrown out" in told
    assert change(admin, full, capacity=1).status_code == 303
    assert (seats(full).capacity, seats(full).taken, seats(full).waiting) == (1, 2, 1)


def test_more_seats_go_to_those_who_wait(admin: FlaskClient, full: Section) -> None:
    assert "The first student on the waitlist gets a seat at once" in said(
        send(admin, full, capacity=9)
    )


def test_more_seats_help_nobody_where_the_shared_ones_are_taken(
    admin: FlaskClient, full: Section, lunch: Section
) -> None:
    share(2, full, lunch)
    told = said(send(admin, full, capacity=9))
    assert "on the waitlist gets a seat at once" not in told
    assert "No one on the waitlist gets a seat: all shared seats are taken." in told


def test_a_shorter_waitlist_sends_nobody_away(admin: FlaskClient, full: Section) -> None:
    told = said(send(admin, full, waitlist=0))
    assert "Everyone who waits keeps the place" in told
    change(admin, full, waitlist=0)
    assert (seats(full).waitlist_capacity, seats(full).waiting) == (0, 1)


def test_new_times_name_how_many_would_have_to_be_in_two_places(
    app: Flask, admin: FlaskClient, lunch: Section, full: Section
) -> None:
    press(browser_of(app, "ada"), lunch, "pick")
    drain(lunch.term_id)
    told = said(send(admin, full, **TO_NOON))
    assert "For 1 student with a seat the new times clash" in told
    told = said(send(admin, full, meetings_0_starts="15:00", meetings_0_ends="16:00"))
    assert "The new times clash with no other section" in told


def test_other_times_and_credits_need_a_reason_where_somebody_has_a_part(
    admin: FlaskClient, full: Section
) -> None:
    assert change(admin, full, **TO_NOON, reason="").status_code == 422
    assert change(admin, full, credits="3", reason="").status_code == 422
    assert "Seats that are held keep the credits" in said(send(admin, full, credits="3"))


def test_where_nobody_has_a_part_other_times_need_none(
    admin: FlaskClient, section: Section
) -> None:
    assert "Nobody has a seat in it" in said(send(admin, section, **TO_NOON))
    assert change(admin, section, **TO_NOON, reason="").status_code == 303


def test_harder_rules_leave_held_seats_alone(admin: FlaskClient, full: Section) -> None:
    assert "seats that are held stay held" in said(send(admin, full, prerequisites="MAT-1"))


def test_a_room_and_a_instructor_in_two_places_are_named_and_refused_nowhere(
    admin: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    course = builders.a_course("MAT-1000")
    builders.a_section(course, term, number="07", meetings=(NOON,), instructor=cast.iris)
    told = said(send(admin, section, **TO_NOON))
    assert "Hall 1 is taken by MAT 1000-07 at the same time (Mon Thu 12:00–1:20 pm)." in told
    assert "Iris teaches MAT 1000-07 at the same time" in told
    assert change(admin, section, **TO_NOON).status_code == 303
    assert "Hall 1 is taken by MAT 1000-07" in said(admin.get(place(section)))


def test_what_is_canceled_clashes_with_nothing(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    course = builders.a_course("MAT-1000")
    builders.a_section(course, term, meetings=(MORNING,), status="CANCELED")
    assert "Mind this" not in said(admin.get(place(section)))


def test_sections_that_are_one_under_two_codes_meet_together(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    builders.a_section(builders.a_course("MAT-1000"), term, meetings=(MORNING,))
    assert "Hall 1 is taken" in said(admin.get(place(section)))
    change(admin, section, cross_lists="MAT-1000")
    assert "Hall 1 is taken" not in said(admin.get(place(section)))


def test_a_lab_at_the_time_of_its_lecture_is_named(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    needs = {"corequisites": {"course": "CSC-1100"}}
    builders.a_section(builders.a_course("CSC-1101"), term, meetings=(NOON,), **needs)
    assert "Every open section" not in said(send(admin, section, corequisites="CSC-1101"))
    told = said(send(admin, section, corequisites="CSC-1101"))
    assert "It becomes linked with CSC 1101, as each names the other" in told
    told = said(send(admin, section, corequisites="CSC-1101", **TO_NOON))
    assert "Every open section of CSC 1101" in told
    change(admin, section, corequisites="CSC-1101")
    assert "Taken along with CSC 1101" in said(admin.get(place(section)))


def test_its_own_meetings_at_one_time_are_named(admin: FlaskClient, section: Section) -> None:
    twice = {"meetings_1_days": ["Mon"], "meetings_1_starts": "11:00", "meetings_1_ends": "12:00"}
    told = said(send(admin, section, **twice))
    assert "Two of its own meetings are at the same time: Mon 11:00 am–12:00 pm." in told


def test_names_that_nothing_has_are_named(admin: FlaskClient, section: Section) -> None:
    told = said(send(admin, section, prerequisites="MAT-9", meetings_0_room="Hall 99"))
    assert "There is no course with the code MAT 9." in told
    assert "“Hall 99” is a room that is not known yet" in told
    change(admin, section, meetings_0_room="Hall 99")
    assert details(section).meetings[0].room == "Hall 99"
    assert "not known yet" not in said(admin.get(place(section)))


def test_restrictions_to_what_no_record_says_are_named(
    admin: FlaskClient, section: Section
) -> None:
    unknown = "must be level: Wizard\nmay not be year: Senoir\nmust be major: Alchemy"
    told = said(send(admin, section, restrictions=unknown))
    assert "No student’s record says “Wizard” (level). Known are: " in told
    assert "No student’s record says “Senoir” (classification)." in told
    builders.a_subject("ALC")
    assert "says “Alchemy” (major)." in said(send(admin, section, restrictions=unknown))
    known = said(send(admin, section, restrictions="must be level: undergraduate"))
    assert "No student’s record" not in known


def test_a_number_that_is_given_twice_is_named(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    course = builders.a_course("CSC-2000")
    one, two = (builders.a_section(course, term) for _ in range(2))
    told = said(send(admin, two, number=one.number))
    assert f"There is a CSC 2000-{one.number} in this term already: CRN {one.crn}." in told
    assert "in this term already" not in said(send(admin, section, capacity=9))


def test_a_course_that_asks_for_itself_is_named(admin: FlaskClient, section: Section) -> None:
    told = said(send(admin, section, corequisites="CSC-1100"))
    assert "CSC 1100 is asked for along with itself" in told


def test_credits_that_go_down_are_refused(admin: FlaskClient, section: Section) -> None:
    assert "the least come first" in errors(send(admin, section, credits="9-1"))
    assert "Credits" in said(send(admin, section, credits="1.5 - 9"))
