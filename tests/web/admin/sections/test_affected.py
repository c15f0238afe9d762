"""Affected students are named before and after a change, each with a link."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section, Term
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.web.admin.sections.forms import address, change, send, text_of
from tests.web.pages import press
from tests.web.visitors import browser_of

TO_NOON = {"meetings_0_starts": "12:00", "meetings_0_ends": "13:20"}
CLASH = "Ada {number} with MAT 1000-02 (Mon Thu 12:00–1:20 pm)"


@pytest.fixture
def lunch(term: Term) -> Any:
    noon = Meets("MR", "12:00", "13:20", kind="LEC", room="Hall 1")
    return builders.a_section(builders.a_course("MAT-1000"), term, meetings=(noon,))


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


@pytest.mark.parametrize("deed", ["cancel", "confirm"])
def test_cancel_and_close_name_every_affected_student(
    admin: FlaskClient, taken: Section, cast: Cast, deed: str
) -> None:
    page = admin.get(address(taken, f"/{deed}")).text
    for student in (cast.ada, cast.ben, cast.cleo):
        assert record(student, taken) in page


def test_earlier_conflict_is_not_called_new(admin: FlaskClient, taken: Section) -> None:
    change(admin, taken, **TO_NOON)
    assert "data-clashing" not in send(admin, taken, meetings_0_room="Hall 9").text


def test_draft_affects_no_student(admin: FlaskClient, term: Term) -> None:
    draft = builders.a_section(builders.a_course("PHY-1000"), term, status="NEW")
    assert "data-affected" not in send(admin, draft, capacity=1).text
