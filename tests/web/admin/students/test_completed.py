"""GET and POST /admin/students/<s>/completed: completed courses in the student record."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.catalog.models import Term
from portal.people import caches, student_profile
from portal.people.models import Student
from portal.recorder.promotion import promote
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.students.forms import WHY, entries, holds, text_of
from tests.web.pages import hidden
from tests.web.pages import press as pick
from tests.web.visitors import browser_of


def form_of(admin: FlaskClient, student: Student, course: str = "") -> dict[str, str]:
    page = admin.get(f"/admin/students/{student.id}/completed", query_string={"course": course})
    return hidden(page.text)


def send(admin: FlaskClient, student: Student, form: dict[str, Any]) -> TestResponse:
    wanted = {"course": "mat 1010", "term": "Fall 2029", "grade": "B", "credits": "4"}
    return admin.post(
        f"/admin/students/{student.id}/completed", data={**wanted, "reason": WHY, **form}
    )


def add(admin: FlaskClient, student: Student, **fields: str) -> TestResponse:
    return send(admin, student, {**form_of(admin, student), **fields})


def correct(admin: FlaskClient, student: Student, **fields: str) -> TestResponse:
    answer = send(admin, student, {**form_of(admin, student, "MAT-1010"), **fields})
    caches.apply_changes(None)  # without waiting for the next look at changes
    return answer


def test_added_course_meets_a_prerequisite(
    app: Flask, admin: FlaskClient, cast: Cast, term: Term
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    section = builders.a_section(builders.a_course(), term, **needs)
    assert add(admin, cast.ada).status_code == 303
    assert student_profile.read(cast.ada.id).completed == {"MAT-1010": "B"}
    pick(browser_of(app, "ada"), section, "pick")
    assert holds(cast.ada, term.id) == [section.id]


def test_higher_grade_meets_a_minimum_grade_and_the_waitlist_gives_the_seat(
    app: Flask, admin: FlaskClient, cast: Cast, term: Term
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010", "grade": "C"}}
    section = builders.a_section(builders.a_course(), term, **needs)
    add(admin, cast.ada, grade="")
    ada = browser_of(app, "ada")
    refused = text_of(pick(ada, section, "pick"))
    assert "Requires MAT 1010 with C or better. Your record shows" in refused
    assert "shows no grade for MAT 1010." in refused
    correct(admin, cast.ada, grade="c-")
    refused = text_of(pick(ada, section, "pick"))
    assert "Your grade in MAT 1010 is C-." in refused
    assert "Ask for permission" in refused
    correct(admin, cast.ada, grade="b-")
    assert student_profile.read(cast.ada.id).completed == {"MAT-1010": "B-"}
    pick(ada, section, "pick")
    assert holds(cast.ada, term.id) == [section.id]


def test_grade_falls_while_a_student_waits(
    app: Flask, admin: FlaskClient, cast: Cast, term: Term
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010", "grade": "C"}, "capacity": 1, "waitlist": 5}
    section = builders.a_section(builders.a_course(), term, **needs)
    for student in (cast.ada, cast.ben):
        add(admin, student)
    ada, ben = browser_of(app, "ada"), browser_of(app, "ben")
    pick(ada, section, "pick")
    pick(ben, section, "pick")
    correct(admin, cast.ben, grade="D")
    pick(ada, section, "drop")
    promote(term.id, "")
    assert holds(cast.ben, term.id) == []
    correct(admin, cast.ben, grade="C")
    promote(term.id, "")
    assert holds(cast.ben, term.id) == [section.id]


def test_student_reads_the_grades_on_the_account_page(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    add(admin, cast.ada)
    add(admin, cast.ada, course="phy 1", grade="")
    page = text_of(browser_of(app, "ada").get("/account"))
    assert "MAT 1010 Fall 2029 B" in page
    assert "PHY 1 Fall 2029 No grade" in page


def test_grade_is_corrected_with_a_reason(admin: FlaskClient, cast: Cast) -> None:
    add(admin, cast.ada)
    assert correct(admin, cast.ada, grade="A", reason="").status_code == 422
    assert correct(admin, cast.ada, grade="A", reason="Appealed.").status_code == 303
    first, last = entries()
    assert (first.action, first.before, first.account_id) == ("record.add", None, cast.max.id)
    assert (last.action, last.reason) == ("record.correct", "Appealed.")
    assert last.before
    assert last.after
    assert (last.before["grade"], last.after["grade"]) == ("B", "A")


def test_course_code_may_be_written_freely(admin: FlaskClient, cast: Cast) -> None:
    add(admin, cast.ada)
    for page in ("", "/completed?course=MAT-1010"):
        answer = text_of(admin.get(f"/admin/students/{cast.ada.id}{page}"))
        assert "MAT 1010" in answer
        assert "MAT-1010" not in answer


def test_course_can_be_removed(admin: FlaskClient, cast: Cast) -> None:
    add(admin, cast.ada)
    correct(admin, cast.ada, remove="yes")
    assert student_profile.read(cast.ada.id).completed == {}
    assert [each.action for each in entries()] == ["record.add", "record.remove"]


def test_simultaneous_corrections_do_not_overwrite_each_other(
    admin: FlaskClient, cast: Cast
) -> None:
    add(admin, cast.ada)
    mine, theirs = (form_of(admin, cast.ada, "MAT-1010") for _ in range(2))
    send(admin, cast.ada, {**theirs, "grade": "A"})
    late = send(admin, cast.ada, {**mine, "grade": "C"})
    assert late.status_code == 422
    assert "The record of this course has changed" in text_of(late)
    assert "A" in text_of(admin.get(f"/admin/students/{cast.ada.id}"))
    assert len(entries()) == 2


def test_form_sent_twice_is_audited_once(admin: FlaskClient, cast: Cast) -> None:
    form = form_of(admin, cast.ada)
    for _ in range(2):
        assert send(admin, cast.ada, form).status_code == 303
    assert len(entries()) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"course": " "},
        {"credits": "many"},
        {"credits": "-1"},
        {"credits": "NaN"},
        {"term": "x" * 81},
    ],
)
def test_invalid_correction_is_refused(
    admin: FlaskClient, cast: Cast, fields: dict[str, str]
) -> None:
    assert add(admin, cast.ada, **fields).status_code == 422
    assert entries() == []
