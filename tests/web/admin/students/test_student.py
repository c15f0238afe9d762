"""GET /admin/students/<s>: all that the registrar knows of one student."""

from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people import privacy
from portal.people.models import CompletedCourse, Hold
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.students.forms import said
from tests.web.pages import press, seat
from tests.web.visitors import browser_of


def page(boss: FlaskClient, student_id: int, term_id: int = 0) -> str:
    return said(boss.get(f"/admin/students/{student_id}", query_string={"term": term_id}))


def test_seats_places_and_credits_of_the_term(
    app: Flask, boss: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    seat(cast.ben, section)
    seat(cast.ada, other)
    press(browser_of(app, "ada"), section, "pick", wait="1")
    text = page(boss, cast.ada.id, section.term_id)
    assert "CSC 1200-02 Course CSC-1200 Enrolled 4" in text
    assert "CSC 1100-01 Course CSC-1100 Place 1 of 1" in text
    assert "4 of 21 credits" in text
    assert "cancellations left today" in text


def test_the_windows_that_are_the_students(boss: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term, cohort={"students": [cast.ben.number]})
    assert "No window of this term is for this student." in page(boss, cast.ada.id, term.id)
    assert f"students {cast.ben.number}" in page(boss, cast.ben.id, term.id)


def test_what_happened_with_refusals_and_receipts(
    app: Flask, boss: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    browser_of(app, "ada").post(f"/terms/{section.term_id}/sections/{section.id}/pick")
    drain(section.term_id)
    answer = boss.get(f"/admin/students/{cast.ada.id}?term={section.term_id}")
    assert "You couldn’t add CSC 1100-01." in said(answer)
    assert 'href="/admin/receipts/' in answer.text


def test_the_latest_term_is_shown_first(boss: FlaskClient, cast: Cast, section: Section) -> None:
    seat(cast.ada, section)
    assert "Selections in Fall 2030" in page(boss, cast.ada.id)


def test_the_record(boss: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        session.add(CompletedCourse(student_id=cast.ada.id, course_code="MAT-1010", grade="A-"))
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    text = page(boss, cast.ada.id)
    assert "MAT 1010" in text
    assert "A-" in text
    assert "Unpaid fees" in text


def test_a_student_who_is_none_is_not_found(boss: FlaskClient) -> None:
    assert boss.get("/admin/students/99999").status_code == 404


def test_it_says_whether_privacy_is_wished_for(boss: FlaskClient, cast: Cast) -> None:
    assert "Privacy Not asked for" in said(boss.get(f"/admin/students/{cast.ada.id}"))
    privacy.set_private(cast.ada.id, cast.max.id, private=True)
    answer = boss.get(f"/admin/students/{cast.ada.id}")
    assert "Privacy Private" in said(answer)
    assert f'href="/admin/students/{cast.ada.id}/privacy"' in answer.text
