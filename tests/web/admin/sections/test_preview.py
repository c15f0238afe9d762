"""The effects and warnings of a change, and the affected students, before it is made."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Subject, Term
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.sections.conftest import MORNING
from tests.web.admin.sections.forms import address, change, details, errors, seats, send, text_of
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
    """Enroll Ada and Ben; Cleo waits."""
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    return section


def test_fewer_seats_than_taken_remove_no_student(admin: FlaskClient, full: Section) -> None:
    answer = text_of(send(admin, full, capacity=1))
    assert "2 seats taken, 1 student on the waitlist." in answer
    assert "1 seat will be over capacity. No one loses a seat" in answer
    assert change(admin, full, capacity=1).status_code == 303
    assert (seats(full).capacity, seats(full).taken, seats(full).waiting) == (1, 2, 1)


def test_more_seats_go_to_waiting_students(admin: FlaskClient, full: Section) -> None:
    assert "The first student on the waitlist gets a seat at once" in text_of(
        send(admin, full, capacity=9)
    )


def test_more_seats_help_no_one_if_the_pool_is_full(
    admin: FlaskClient, full: Section, lunch: Section
) -> None:
    share(2, full, lunch)
    answer = text_of(send(admin, full, capacity=9))
    assert "on the waitlist gets a seat at once" not in answer
    assert "No one on the waitlist gets a seat: all shared seats are taken." in answer


def test_smaller_waitlist_removes_no_student(admin: FlaskClient, full: Section) -> None:
    answer = text_of(send(admin, full, waitlist=0))
    assert "Waiting students keep their positions" in answer
    change(admin, full, waitlist=0)
    assert (seats(full).waitlist_capacity, seats(full).waiting) == (0, 1)


def test_new_times_count_students_with_a_conflict(
    app: Flask, admin: FlaskClient, lunch: Section, full: Section
) -> None:
    press(browser_of(app, "ada"), lunch, "pick")
    drain(lunch.term_id)
    answer = text_of(send(admin, full, **TO_NOON))
    assert "The new times conflict with another section for 1 enrolled student" in answer
    answer = text_of(send(admin, full, meetings_0_starts="15:00", meetings_0_ends="16:00"))
    assert "The new times cause no conflicts" in answer


def test_new_times_and_credits_need_a_reason_if_students_are_affected(
    admin: FlaskClient, full: Section
) -> None:
    assert change(admin, full, **TO_NOON, reason="").status_code == 422
    assert change(admin, full, credits="3", reason="").status_code == 422
    assert "Enrolled students keep their current credits" in text_of(send(admin, full, credits="3"))


def test_new_times_need_no_reason_without_students(admin: FlaskClient, section: Section) -> None:
    assert "No one is enrolled" in text_of(send(admin, section, **TO_NOON))
    assert change(admin, section, **TO_NOON, reason="").status_code == 303


def test_stricter_rules_keep_held_seats(admin: FlaskClient, full: Section) -> None:
    assert "Enrolled students keep their seats" in text_of(send(admin, full, prerequisites="MAT-1"))


def test_double_booked_room_and_instructor_are_named_and_allowed(
    admin: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    course = builders.a_course("MAT-1000")
    builders.a_section(course, term, number="07", meetings=(NOON,), instructor=cast.iris)
    answer = text_of(send(admin, section, **TO_NOON))
    assert "Hall 1 is taken by MAT 1000-07 at the same time (Mon Thu 12:00–1:20 pm)." in answer
    assert "Iris teaches MAT 1000-07 at the same time" in answer
    assert change(admin, section, **TO_NOON).status_code == 303
    assert "Hall 1 is taken by MAT 1000-07" in text_of(admin.get(address(section)))


def test_many_conflicts_are_counted(
    admin: FlaskClient, term: Term, section: Section, cast: Cast
) -> None:
    course = builders.a_course("MAT-1000")
    for number in range(7):
        times = (NOON,)
        builders.a_section(course, term, number=f"1{number}", meetings=times, instructor=cast.iris)
    answer = text_of(send(admin, section, **TO_NOON))
    assert answer.count("at the same time (") == 12
    assert "And 2 more conflicts." in answer


def test_canceled_section_conflicts_with_nothing(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    course = builders.a_course("MAT-1000")
    builders.a_section(course, term, meetings=(MORNING,), status="CANCELED")
    assert "Please note" not in text_of(admin.get(address(section)))


def test_cross_listed_sections_may_meet_together(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    builders.a_section(builders.a_course("MAT-1000"), term, meetings=(MORNING,))
    assert "Hall 1 is taken" in text_of(admin.get(address(section)))
    change(admin, section, cross_lists="MAT-1000")
    assert "Hall 1 is taken" not in text_of(admin.get(address(section)))


def test_lab_at_the_time_of_its_lecture_is_named(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    needs = {"corequisites": {"course": "CSC-1100"}}
    builders.a_section(builders.a_course("CSC-1101"), term, meetings=(NOON,), **needs)
    assert "Every open section" not in text_of(send(admin, section, corequisites="CSC-1101"))
    answer = text_of(send(admin, section, corequisites="CSC-1101"))
    assert "CSC 1101 and this course name each other as corequisites" in answer
    answer = text_of(send(admin, section, corequisites="CSC-1101", **TO_NOON))
    assert "Every open section of its corequisite CSC 1101" in answer
    change(admin, section, corequisites="CSC-1101")
    assert "Must be taken together with CSC 1101" in text_of(admin.get(address(section)))


def test_overlapping_meetings_of_the_section_are_named(
    admin: FlaskClient, section: Section
) -> None:
    twice = {"meetings_1_days": ["Mon"], "meetings_1_starts": "11:00", "meetings_1_ends": "12:00"}
    answer = text_of(send(admin, section, **twice))
    assert "Two meetings of this section are at the same time: Mon 11:00 am–12:00 pm." in answer


def test_unknown_names_are_named(admin: FlaskClient, section: Section) -> None:
    answer = text_of(send(admin, section, prerequisites="MAT-9", meetings_0_room="Hall 99"))
    assert "No course has the code MAT 9." in answer
    assert "“Hall 99” is a new room" in answer
    change(admin, section, meetings_0_room="Hall 99")
    assert details(section).meetings[0].room == "Hall 99"
    assert "is a new room" not in text_of(admin.get(address(section)))


def test_restrictions_that_no_student_meets_are_named(admin: FlaskClient, section: Section) -> None:
    unknown = "must be level: Wizard\nmay not be year: Senoir\nmust be major: Alchemy"
    answer = text_of(send(admin, section, restrictions=unknown))
    assert "No student record has “Wizard” (level). Known values: " in answer
    assert "No student record has “Senoir” (classification)." in answer
    builders.a_student("eve", majors=("ALC",))
    builders.added(Subject(code="ALCHEMY", name="Alchemy"))  # as an import adds a major
    assert "has “Alchemy” (major)." in text_of(send(admin, section, restrictions=unknown))
    known = text_of(send(admin, section, restrictions="must be level: undergraduate"))
    assert "No student record" not in known


def test_duplicate_section_number_is_named(
    admin: FlaskClient, term: Term, section: Section
) -> None:
    course = builders.a_course("CSC-2000")
    one, two = (builders.a_section(course, term) for _ in range(2))
    answer = text_of(send(admin, two, number=one.number))
    assert f"This term already has a section CSC 2000-{one.number}: CRN {one.crn}." in answer
    assert "This term already has a section" not in text_of(send(admin, section, capacity=9))


def test_course_that_requires_itself_is_named(admin: FlaskClient, section: Section) -> None:
    answer = text_of(send(admin, section, corequisites="CSC-1100"))
    assert "CSC 1100 is its own corequisite" in answer


def test_credits_with_a_lower_maximum_are_refused(admin: FlaskClient, section: Section) -> None:
    assert "write the lowest number first" in errors(send(admin, section, credits="9-1"))
    assert "Credits" in text_of(send(admin, section, credits="1.5 - 9"))


CLASH = "Ada {number} with MAT 1000-02 (Mon Thu 12:00–1:20 pm)"


@pytest.fixture
def taken(app: Flask, section: Section, lunch: Section, cast: Cast) -> Section:
    """Enroll Ada here and in a second section, Ben here; Cleo waits."""
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick", wait="1")
    press(browser_of(app, "ada"), lunch, "pick")
    drain(section.term_id)
    assert cast
    return section


def record(student: Any, section: Section) -> str:
    return f'href="/admin/students/{student.id}?term={section.term_id}"'


def test_preview_of_new_times_names_students_with_a_conflict(
    admin: FlaskClient, taken: Section, cast: Cast
) -> None:
    page = send(admin, taken, **TO_NOON)
    result = text_of(page)
    assert "Students with a new time conflict:" in result
    assert CLASH.format(number=cast.ada.number) in result
    clashing = page.text.split("data-clashing")[1].split("</section>")[0]
    assert record(cast.ada, taken) in clashing
    assert "Ben" not in clashing


def test_preview_names_every_affected_student(
    admin: FlaskClient, taken: Section, cast: Cast
) -> None:
    page = send(admin, taken, capacity=1)
    everyone = page.text.split("data-affected")[1].split("</details>")[0]
    for student in (cast.ada, cast.ben, cast.cleo):
        assert record(student, taken) in everyone
    assert everyone.count("on the waitlist") == 1
    assert "data-clashing" not in page.text


def test_section_page_names_conflicts_until_they_are_resolved(
    app: Flask, admin: FlaskClient, taken: Section, lunch: Section, cast: Cast
) -> None:
    answer = change(admin, taken, **TO_NOON)
    assert answer.status_code == 303
    page = admin.get(answer.location)
    assert "1 student now has a time conflict" in text_of(page)
    assert CLASH.format(number=cast.ada.number) in text_of(page)
    assert record(cast.ada, taken) in page.text
    press(browser_of(app, "ada"), lunch, "drop")
    drain(taken.term_id)
    assert "Students with a time conflict" not in text_of(admin.get(address(taken)))


def test_student_page_shows_conflicts(admin: FlaskClient, taken: Section, cast: Cast) -> None:
    page = f"/admin/students/{cast.ada.id}?term={taken.term_id}"
    assert "meet at the same time" not in text_of(admin.get(page))
    change(admin, taken, **TO_NOON)
    answer = text_of(admin.get(page))
    assert "CSC 1100-01 and MAT 1000-02 meet at the same time (Mon Thu 12:00–1:20 pm)." in answer


@pytest.mark.parametrize("action", ["cancel", "confirm"])
def test_cancel_and_close_name_every_affected_student(
    admin: FlaskClient, taken: Section, cast: Cast, action: str
) -> None:
    page = admin.get(address(taken, f"/{action}")).text
    for student in (cast.ada, cast.ben, cast.cleo):
        assert record(student, taken) in page


def test_earlier_conflict_is_not_called_new(admin: FlaskClient, taken: Section) -> None:
    change(admin, taken, **TO_NOON)
    assert "data-clashing" not in send(admin, taken, meetings_0_room="Hall 9").text


def test_draft_affects_no_student(admin: FlaskClient, term: Term) -> None:
    draft = builders.a_section(builders.a_course("PHY-1000"), term, status="NEW")
    assert "data-affected" not in send(admin, draft, capacity=1).text
