"""GET /admin/students: find a student; and everything that the registrar knows about one."""

from datetime import date

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import update

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.people import privacy, student_records
from portal.people.models import Account, CompletedCourse, Hold, Student
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.students.forms import text_of
from tests.web.pages import press, seat
from tests.web.visitors import browser_of


def find(admin: FlaskClient, text: str, page: int = 1) -> str:
    answer = admin.get("/admin/students", query_string={"q": text, "page": page})
    assert answer.status_code == 200
    return text_of(answer)


def test_student_is_found_by_any_part_of_the_name(admin: FlaskClient, cast: Cast) -> None:
    found = find(admin, "LEO")
    assert cast.cleo.number in found
    assert cast.ada.number not in found


def test_student_is_found_by_email(admin: FlaskClient, cast: Cast) -> None:
    mail = update(Account).where(Account.id == cast.ben.account_id)
    with transaction() as session:
        session.execute(mail.values(email="b.smith@example.edu"))
    assert cast.ben.number in find(admin, "smith@")


def test_every_word_must_match(admin: FlaskClient, cast: Cast) -> None:
    assert cast.ada.number in find(admin, f"ada {cast.ada.number[:3]}")
    assert "No student matches." in find(admin, "ada ben")


def test_number_leads_to_its_student(admin: FlaskClient, cast: Cast) -> None:
    answer = admin.get("/admin/students", query_string={"q": f" {cast.dan.number} "})
    assert answer.location == f"/admin/students/{cast.dan.id}"


def test_students_without_an_adviser_are_listed(app: Flask, admin: FlaskClient, cast: Cast) -> None:
    adviser = builders.an_account("abel", staff_roles=["adviser"])
    with transaction() as session:
        session.get_one(Student, cast.ada.id).adviser_id = adviser.id
    address = "/admin/students?show=without-adviser"
    for roles, found in (["adviser"], {"ben", "cleo", "dan"}), ([], {"ada", "ben", "cleo", "dan"}):
        with transaction() as session:
            session.get_one(Account, adviser.id).staff_roles = roles
        page = admin.get(address)
        assert {each for each in vars(cast) if f"{each.title()} N" in text_of(page)} == found
    assert f"{address}&amp;sort=number" in page.text.replace("?sort=number&amp;show=", "?show=")
    assert cast.ada.number not in admin.get(f"{address}&q=ben").text
    with transaction() as session:
        session.get_one(Account, adviser.id).staff_roles = ["adviser"]
    own = browser_of(app, "abel").get(address)
    assert cast.ada.number in own.text  # advisers see all of theirs
    assert "Without an adviser" not in own.text


@pytest.mark.parametrize("text", ["%", "_", "\\", "\0", "'", "ä" * 300])
def test_wildcards_are_literal(admin: FlaskClient, text: str) -> None:
    answer = admin.get("/admin/students", query_string={"q": text})
    assert answer.status_code == 200
    if text != "\0":
        assert "No student matches." in text_of(answer)


def test_long_list_is_paged(
    admin: FlaskClient, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(student_records, "PAGE_SIZE", 3)
    first, second = find(admin, ""), find(admin, "", page=2)
    assert cast.ada.number in first
    assert "Next" in first
    assert cast.dan.number not in first
    assert cast.dan.number in second
    assert "Next" not in second


def test_deleted_student_is_not_found(admin: FlaskClient, cast: Cast) -> None:
    gone = update(Student).where(Student.id == cast.ada.id)
    with transaction() as session:
        session.execute(gone.values(deleted_at=cast.max.deleted_at or "2030-01-01"))
    assert "No student matches." in find(admin, "ada")
    assert admin.get(f"/admin/students/{cast.ada.id}").status_code == 404


def page(admin: FlaskClient, student_id: int, term_id: int = 0) -> str:
    return text_of(admin.get(f"/admin/students/{student_id}", query_string={"term": term_id}))


def test_student_page_shows_seats_positions_and_credits(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section, other: Section
) -> None:
    seat(cast.ben, section)
    seat(cast.ada, other)
    press(browser_of(app, "ada"), section, "pick", wait="1")
    text = page(admin, cast.ada.id, section.term_id)
    assert "CSC 1200-02 Course CSC-1200 Enrolled 4" in text
    assert "CSC 1100-01 Course CSC-1100 Waitlist position 1 of 1" in text
    assert "4 of 21 credits" in text
    assert "drops left today" in text


def test_student_page_shows_the_students_windows(admin: FlaskClient, cast: Cast) -> None:
    term = builders.a_term()
    builders.an_open_window(term, cohort={"students": [cast.ben.number]})
    assert "The student has no window in this term. Schedule a window" in page(
        admin, cast.ada.id, term.id
    )
    assert f"students {cast.ben.number}" in page(admin, cast.ben.id, term.id)


def test_student_page_shows_history_refusals_and_receipts(
    app: Flask, admin: FlaskClient, cast: Cast, section: Section
) -> None:
    seat(cast.ben, section)
    browser_of(app, "ada").post(f"/terms/{section.term_id}/sections/{section.id}/pick")
    drain(section.term_id)
    answer = admin.get(f"/admin/students/{cast.ada.id}?term={section.term_id}")
    assert "You couldn’t add CSC 1100-01." in text_of(answer)
    assert 'href="/admin/receipts/' in answer.text


def test_latest_term_is_shown_first(admin: FlaskClient, cast: Cast, section: Section) -> None:
    seat(cast.ada, section)
    assert "Classes in Fall 2030" in page(admin, cast.ada.id)


def test_term_that_students_register_in_is_shown_before_a_draft(
    admin: FlaskClient, cast: Cast, term: Term
) -> None:
    builders.a_term("Fall 2099", state="draft")
    builders.a_term("Spring 2099", starts_on=date(2099, 1, 5), ends_on=date(2099, 5, 1))
    term_catalog.forget()
    assert f"Classes in {term.name}" in page(admin, cast.ada.id)
    [window] = backend().ledger.windows(term.id)
    backend().ledger.close_window(term.id, window.id, "tests")
    assert "Classes in Spring 2099" in page(admin, cast.ada.id)


def test_student_page_shows_the_record(admin: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        session.add(CompletedCourse(student_id=cast.ada.id, course_code="MAT-1010", grade="A-"))
        session.add(Hold(student_id=cast.ada.id, kind="fees", reason="Unpaid fees"))
    text = page(admin, cast.ada.id)
    assert "MAT 1010" in text
    assert "A-" in text
    assert "Unpaid fees" in text


def test_unknown_student_is_not_found(admin: FlaskClient) -> None:
    assert admin.get("/admin/students/99999").status_code == 404


def test_student_page_shows_privacy(admin: FlaskClient, cast: Cast) -> None:
    assert "Privacy Not requested" in text_of(admin.get(f"/admin/students/{cast.ada.id}"))
    privacy.set_private(cast.ada.id, cast.max.id, private=True)
    answer = admin.get(f"/admin/students/{cast.ada.id}")
    assert "Privacy Private" in text_of(answer)
    assert f'href="/admin/students/{cast.ada.id}/privacy"' in answer.text
