"""Practice terms: their students alone may pick in them, and nothing of them is left to find."""

from typing import Any

import pytest
from flask import Flask
from sqlalchemy import select

from portal.backend import Backend
from portal.catalog.models import Course, Department, Subject, Term
from portal.catalog.term_catalog import live_terms, offered_terms
from portal.core.db import transaction
from portal.operations.rehearsal import practice_term
from portal.operations.rehearsal.practice_term import NotForPractice, PracticeTerm
from portal.people import student_records
from portal.people.models import Account, Student
from portal.people.student_profile import read
from portal.windows import cohorts
from portal.windows.cohorts import open_to
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of

STUDENTS = 3
MADE = (Account, Student, Course, Subject, Department, Term)


@pytest.fixture
def practice(cast: Cast) -> PracticeTerm:  # noqa: ARG001
    return practice_term.make(STUDENTS, "let us practise")


def open_window(backend: Backend, practice: PracticeTerm) -> int:
    now = backend.ledger.now()
    return practice_term.open_window(practice, now - 1000, now + 600_000)


def test_it_has_its_students_and_seats_for_them(practice: PracticeTerm, backend: Backend) -> None:
    seats = backend.ledger.seats(practice.id)
    assert set(seats) == set(practice.sections)
    assert (
        sum(each.capacity for each in seats.values()) >= STUDENTS * practice_term.SEATS_PER_STUDENT
    )
    assert len(practice.usernames) == STUDENTS


def test_its_window_is_for_its_students_alone(
    practice: PracticeTerm, backend: Backend, cast: Cast
) -> None:
    open_window(backend, practice)
    windows = backend.ledger.windows(practice.id)
    with transaction() as session:
        mine = session.scalars(select(Student.id).where(Student.number.in_(practice.numbers)))
        assert all(open_to(read(student), windows) for student in mine)
    assert not open_to(read(cast.ada.id), windows)


def test_no_window_is_scheduled_in_a_term_of_real_students(
    practice: PracticeTerm, backend: Backend
) -> None:
    real = builders.a_term()
    meant = PracticeTerm(real.id, practice.usernames, practice.numbers, [])
    with pytest.raises(NotForPractice):
        practice_term.open_window(meant, backend.ledger.now(), backend.ledger.now() + 1000)
    assert backend.ledger.windows(real.id) == []


def test_its_students_have_no_address(practice: PracticeTerm) -> None:
    with transaction() as session:
        found = select(Account.email).where(Account.username.in_(practice.usernames))
        assert set(session.scalars(found)) == {""}


def test_real_students_are_not_shown_it(practice: PracticeTerm, app: Flask, cast: Cast) -> None:  # noqa: ARG001
    real = builders.a_term()
    assert {each.id for each in live_terms()} == {real.id, practice.id}
    assert [each.id for each in offered_terms()] == [real.id]
    told = browser_of(app, "ada").get("/api/v1/semesters").json
    assert [each["semester_id"] for each in told["data"]["semesters"]] == [real.id]


def test_afterwards_nothing_of_it_is_left_but_rows_that_are_deleted(
    practice: PracticeTerm, app: Flask
) -> None:
    with transaction() as session:
        practice_term.delete_all(session)
    with transaction() as session:
        left = [_live(session, kind) for kind in MADE]
        # The cast: six with accounts of their own and the admin, four of them students.
        assert left == [7, 4, 0, 0, 0, 0]
        assert not cohorts.choices(session)["subjects"]
        assert student_records.find_by_number(session, practice.numbers[0]) is None
    assert live_terms() == []
    assert "Practice" not in browser_of(app, "max").get("/admin").text


def test_afterwards_no_one_can_log_in_as_one_of_them(practice: PracticeTerm, app: Flask) -> None:
    form = {"username": practice.usernames[0], "password": "let us practise"}
    assert app.test_client().post("/login", data=form).status_code == 302
    with transaction() as session:
        practice_term.delete_all(session)
    assert app.test_client().post("/login", data=form).status_code == 422


def test_a_real_student_in_one_of_its_departments_keeps_their_account(
    practice: PracticeTerm, app: Flask, cast: Cast
) -> None:
    with transaction() as session:
        made_up = session.scalars(select(Student).where(Student.number == practice.numbers[0]))
        session.get_one(Student, cast.ada.id).department_id = made_up.one().department_id
    with transaction() as session:
        practice_term.delete_all(session)
        assert session.get_one(Student, cast.ada.id).deleted_at is None
    assert browser_of(app, "ada").get("/api/v1/me").status_code == 200


def test_a_real_term_is_left_as_it_is(practice: PracticeTerm) -> None:
    real = builders.a_term()
    assert {each.id for each in live_terms()} == {real.id, practice.id}
    with transaction() as session:
        practice_term.delete_all(session)
    assert [each.id for each in live_terms()] == [real.id]


def _live(session: Any, kind: Any) -> int:
    return len(session.scalars(select(kind.id).where(kind.deleted_at.is_(None))).all())
