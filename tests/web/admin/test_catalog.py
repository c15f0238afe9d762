"""Departments, subjects, courses, rooms and terms are deleted and restored."""

from datetime import date
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from click.testing import CliRunner, Result
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import delete, select, update

from portal.backend import Backend
from portal.catalog.models import Course, Instructor, Meeting, Section, Subject, Term
from portal.core.db import transaction
from portal.people.models import StudentSubject
from portal.recorder.recorder import drain
from portal.runtime.cli import main
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.register import claim
from tests.web.ledger_outage import ledger_away
from tests.web.pages import words
from tests.web.visitors import browser_of

REASON = {"reason": "It is taught no longer."}


@pytest.fixture
def course(term: Term) -> Course:
    assert term
    return builders.a_course()


def address(record: Any, act: str = "delete") -> str:
    return f"/admin/catalog/{type(record).__name__.lower()}/{record.id}/{act}"


def catalog(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["catalog", *arguments])


def deleted(record: Any) -> bool:
    with transaction() as session:
        return session.get_one(type(record), record.id).deleted_at is not None


def test_course_disappears_from_lists_and_comes_back(
    admin: FlaskClient, term: Term, course: Course, cast: Cast
) -> None:
    assert course.code in admin.get("/admin/catalog/course").text
    assert "Its history stays" in admin.get(address(course)).text
    assert admin.post(address(course), data=REASON).status_code == 303
    assert deleted(course)
    admin.get("/admin")  # shows the message, which names it
    assert course.code not in admin.get("/admin/catalog/course").text
    assert course.code in admin.get("/admin/catalog/course?deleted=1").text
    new = f"/admin/terms/{term.id}/sections/new"
    assert course.title not in admin.get(new).text
    assert admin.post(address(course, "restore"), data=REASON).status_code == 303
    assert not deleted(course)
    assert course.title in admin.get(new).text
    one, other = entries("catalog.%")
    assert (one.account_id, one.subject, one.reason) == (
        cast.max.id,
        f"course:{course.id}",
        REASON["reason"],
    )
    assert (one.after, other.after) == ({"deleted": True}, {"deleted": False})
    assert "Restored to the catalog" in admin.get("/admin/audit").text


def test_deleting_twice_changes_nothing_and_needs_a_reason(
    admin: FlaskClient, course: Course
) -> None:
    assert admin.post(address(course), data={"reason": ""}).status_code == 422
    for _ in range(2):
        assert admin.post(address(course), data=REASON).status_code == 303
    assert len(entries("catalog.delete")) == 1


def test_course_with_live_sections_is_not_deleted(
    admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term)
    for page in (admin.get(address(course)), admin.post(address(course), data=REASON)):
        assert "You can’t delete it while these depend on it" in page.text
        assert f"Sections: {course.code}-{section.number}" in page.text
    assert not deleted(course)
    with transaction() as session:
        session.execute(update(Section).values(status="CANCELED"))
    assert admin.post(address(course), data=REASON).status_code == 303


def test_sections_of_past_terms_are_history(admin: FlaskClient, term: Term, course: Course) -> None:
    builders.a_section(course, term)
    with transaction() as session:
        session.execute(update(Term).values(starts_on=date(2020, 1, 1), ends_on=date(2020, 5, 1)))
    assert admin.post(address(course), data=REASON).status_code == 303
    with transaction() as session:
        assert session.scalars(select(Section)).one().course_id == course.id


def test_course_that_a_section_requires_is_not_deleted(
    admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(builders.a_course("CSC-2200"), term)
    with transaction() as session:
        tree = {"all": [{"course": course.code}, {"course": "ELSE-1"}]}
        session.execute(update(Section).values(prerequisites=tree))
    page = admin.post(address(course), data=REASON)
    assert page.status_code == 409
    assert "Sections that require it" in page.text
    assert f"-{section.number}" in page.text


def test_subject_and_department_are_not_deleted_before_their_courses(
    admin: FlaskClient, course: Course, cast: Cast
) -> None:
    subject, department = builders.a_subject(), builders.a_department()
    with transaction() as session:
        session.execute(update(Subject).values(department_id=department.id))
        session.add(StudentSubject(student_id=cast.ada.id, subject_id=subject.id, kind="minor"))
    page = admin.post(address(subject), data=REASON)
    assert course.code in page.text
    assert "Students with this major or minor" in page.text
    assert admin.post(address(department), data=REASON).status_code == 409
    admin.post(address(course), data=REASON)
    with transaction() as session:
        for each in session.scalars(select(StudentSubject)):
            session.delete(each)
        others = select(Course).where(Course.deleted_at.is_(None))
        assert not session.scalars(others).all()
    assert admin.post(address(subject), data=REASON).status_code == 303
    with transaction() as session:
        session.execute(update(Subject).values(department_id=department.id))
    assert deleted(subject)
    page = admin.post(address(course, "restore"), data=REASON)
    assert page.status_code == 409
    assert f"First restore what it needs: Subjects: {subject.code}" in page.text
    assert admin.post(address(subject, "restore"), data=REASON).status_code == 303
    assert admin.post(address(course, "restore"), data=REASON).status_code == 303


def test_room_in_use_is_not_deleted(admin: FlaskClient, term: Term, course: Course) -> None:
    section = builders.a_section(course, term, meetings=(builders.Meets(room="Hall 7"),))
    room = builders.a_room("Hall 7")
    assert f"{course.code}-{section.number}" in admin.post(address(room), data=REASON).text
    assert not deleted(room)
    with transaction() as session:
        session.execute(delete(Meeting).where(Meeting.section_id == section.id))
    assert admin.post(address(room), data=REASON).status_code == 303
    admin.get("/admin")  # shows the message
    assert "Hall 7" not in admin.get(f"/admin/terms/{term.id}/sections/new").text


def test_room_disappears_and_comes_back(admin: FlaskClient, term: Term, course: Course) -> None:
    room, past = builders.a_room("Hall 7"), builders.a_term("Fall 2019")
    meets = builders.Meets("MR", "10:00", "11:50", room="Hall 7")
    held = builders.a_section(course, past, meetings=(meets,))
    coming = builders.a_section(course, term)
    with transaction() as session:
        over = update(Term).where(Term.id == past.id)
        session.execute(over.values(starts_on=date(2019, 8, 1), ends_on=date(2019, 12, 1)))
    edit = f"/admin/terms/{term.id}/sections/{coming.id}/edit"
    assert 'value="Hall 7"' in admin.get(edit).text

    assert admin.post(address(room), data=REASON).status_code == 303
    assert "Hall 7 is deleted." in admin.get("/admin").text
    assert "Hall 7" not in admin.get("/admin/catalog/room").text
    assert "Hall 7" in admin.get("/admin/catalog/room?deleted=1").text
    assert 'value="Hall 7"' not in admin.get(edit).text
    assert "Hall 7" in admin.get(f"/teaching/sections/{held.id}").text  # history
    assert "Room Hall 7" in words(admin.get("/admin/audit").text)

    assert admin.post(address(room, "restore"), data=REASON).status_code == 303
    assert "Hall 7 is restored." in admin.get("/admin").text
    assert "Hall 7" in admin.get("/admin/catalog/room").text
    assert "Hall 7" not in admin.get("/admin/catalog/room?deleted=1").text
    assert 'value="Hall 7"' in admin.get(edit).text


def test_department_disappears_and_comes_back(
    admin: FlaskClient, term: Term, cast: Cast, tmp_path: Path
) -> None:
    art = builders.a_department("ART")
    course = builders.a_course("ART-1", department_id=art.id)
    subject = builders.added(Subject(code="PNT", name="Painting", department_id=art.id))
    with transaction() as session:
        hers = update(Instructor).where(Instructor.id == cast.iris.id)
        session.execute(hers.values(department_id=art.id))
    refused = admin.post(address(art), data=REASON)
    assert refused.status_code == 409
    for named in ("Courses: ART-1", "Subjects: PNT", "Instructors: Iris"):
        assert named in refused.text
    assert not deleted(art)

    with transaction() as session:  # as imports do
        for model in (Instructor, Course):
            moved = update(model).where(model.department_id == art.id)
            session.execute(moved.values(department_id=builders.a_department("SCI").id))
    assert admin.post(address(subject), data=REASON).status_code == 303
    assert admin.post(address(art), data=REASON).status_code == 303
    assert "ART Department of ART is deleted." in admin.get("/admin").text
    assert "Department of ART" not in admin.get("/admin/catalog/department").text
    assert "Department of ART" in admin.get("/admin/catalog/department?deleted=1").text
    assert "Department ART Department of ART" in words(admin.get("/admin/audit").text)
    assert "Department of ART" not in exported(tmp_path / "without.zip", "orgs")

    refused = admin.post(address(subject, "restore"), data=REASON)
    assert refused.status_code == 409
    assert "First restore what it needs: Departments: ART" in refused.text
    assert admin.post(address(art, "restore"), data=REASON).status_code == 303
    assert "Department of ART" in admin.get("/admin/catalog/department").text
    assert "Department of ART" in exported(tmp_path / "with.zip", "orgs")
    assert admin.post(address(subject, "restore"), data=REASON).status_code == 303
    assert course
    assert term


def test_term_with_students_or_windows_is_not_deleted(
    admin: FlaskClient, term: Term, course: Course, cast: Cast
) -> None:
    section = builders.a_section(course, term)
    window = builders.an_open_window(term)
    claim(cast.ada.id, term.id, section.id)
    drain(term.id)
    page = admin.post(address(term), data=REASON)
    assert "Sections with students" in page.text
    assert "Windows: Selection" in page.text
    assert window
    assert not deleted(term)
    empty = builders.a_term("Fall 2099")
    assert admin.post(address(empty), data=REASON).status_code == 303
    admin.get("/admin/operations")  # shows the message
    assert "Fall 2099" not in admin.get("/admin").text
    assert admin.get(f"/admin/terms/{empty.id}/sections").status_code == 404
    assert admin.post(address(empty, "restore"), data=REASON).status_code == 303
    assert "Fall 2099" in admin.get("/admin").text


def test_term_is_not_deleted_before_its_decisions_are_recorded(
    backend: Backend, admin: FlaskClient
) -> None:
    coming = builders.a_term("Fall 2099")
    window = builders.a_coming_window(coming)
    for page in (admin.get(address(coming)), admin.post(address(coming), data=REASON)):
        assert page.status_code == 409
        assert "Decisions that are not recorded yet: 1" in page.text
    result = catalog("term", "Fall 2099", "--delete")
    assert result.exit_code == 1
    assert "Decisions that are not recorded yet: 1" in result.output
    drain(coming.id)
    with ledger_away(backend):
        assert admin.post(address(coming), data=REASON).status_code == 503
    assert not deleted(coming)
    assert "Windows: Selection" in admin.post(address(coming), data=REASON).text
    backend.ledger.cancel_window(coming.id, window.id, "tests")
    assert admin.post(address(coming), data=REASON).status_code == 409
    drain(coming.id)
    assert admin.post(address(coming), data=REASON).status_code == 303


def test_exports_leave_out_what_is_deleted_and_imports_restore_it_only_on_request(
    admin: FlaskClient, course: Course, tmp_path: Path
) -> None:
    before, after = tmp_path / "before.zip", tmp_path / "after.zip"
    assert course.code in exported(before, "courses")
    admin.post(address(course), data=REASON)
    assert course.code not in exported(after, "courses")
    imported = ["import", "--layout", "oneroster", "--update"]
    assert CliRunner().invoke(main, [*imported, str(after)]).exit_code == 0
    assert deleted(course)
    assert CliRunner().invoke(main, [*imported, str(before)]).exit_code == 0
    assert deleted(course)
    assert CliRunner().invoke(main, [*imported, "--overwrite", str(before)]).exit_code == 0
    assert not deleted(course)


def exported(file: Path, part: str) -> str:
    """Return one of the files of a full export."""
    assert CliRunner().invoke(main, ["export", str(file)]).exit_code == 0
    with ZipFile(file) as archive:
        return archive.read(f"{part}.csv").decode()


def test_command_lists_deletes_and_restores(term: Term, course: Course) -> None:
    section = builders.a_section(course, term)
    refused = catalog("course", course.code, "--delete")
    assert refused.exit_code == 1
    assert f"Sections: {course.code}-{section.number}" in refused.stderr
    with transaction() as session:
        session.execute(update(Section).values(status="CANCELED"))
    assert catalog("course", course.code, "--delete", "--reason", "Gone.").exit_code == 0
    assert course.code not in catalog("course").stdout
    assert course.code in catalog("course", "--deleted").stdout
    assert "was already deleted" in catalog("course", course.code, "--delete").stderr
    assert catalog("course", course.code, "--restore").exit_code == 0
    assert not deleted(course)
    assert "There is no room 'Nowhere'" in catalog("room", "Nowhere", "--delete").stderr
    assert [(each.account_id, each.reason) for each in entries()] == [
        (None, "Gone."),
        (None, "command line"),
    ]


def test_students_do_not_see_the_page(app: Flask, course: Course, cast: Cast) -> None:
    assert cast
    assert browser_of(app, "ada").post(address(course), data=REASON).status_code == 403
    assert browser_of(app, "iris").get("/admin/catalog/course").status_code == 403
