"""Students and instructors are created and edited on pages; imports keep such edits."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Instructor, Reserve, Term
from portal.core.db import transaction
from portal.notifications.mail import compose
from portal.notifications.models import OutboxEntry
from portal.people import caches, student_editing
from portal.people.models import Account, Student
from portal.people.student_fields import StudentDetails
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.exchange.oneroster import School, imported, moved
from tests.register import claim
from tests.web.admin.records import WHY, confirmed, edited, with_reason
from tests.web.admin.sections.forms import inputs
from tests.web.pages import send, words
from tests.web.visitors import browser_of

NEW = "/admin/students/new"
FORM = {
    "username": "nora",
    "name": "Nora Novak",
    "number": "N777",
    "email": "nora@example.org",
    "level": "Undergraduate",
    "year": "Junior",
    "department": "",
}


def of(student: Student) -> str:
    return f"/admin/students/{student.id}"


def stored(student: Student) -> StudentDetails:
    with transaction() as session:
        return student_editing.details(session, session.get_one(Student, student.id))


def test_student_is_created_without_a_password(
    app: Flask, admin: FlaskClient, term: Term, cast: Cast
) -> None:
    builders.a_subject("CSC")
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course(), term)
    shown = send(admin, NEW, FORM | {"majors": "csc"})
    assert "The account has no password." in words(shown.text)
    form = with_reason(shown.text)
    one, other = (admin.post(NEW, data=form) for _ in range(2))
    assert one.status_code == 303
    assert one.location == other.location
    [found] = entries("student.create")
    assert (found.account_id, found.reason) == (cast.max.id, WHY)
    assert found.after
    assert found.after["majors"] == "CSC"
    with transaction() as session:
        account = session.scalars(select(Account).where(Account.username == "nora")).one()
        student = account.student
    assert account.password_hash == ""
    assert student
    tried = app.test_client().post("/login", data={"username": "nora", "password": ""})
    assert tried.status_code == 422
    assert claim(student.id, term.id, section.id).outcome == "enrolled"
    assert "Nora Novak" in admin.get("/admin/search?q=N777", follow_redirects=True).text
    assert admin.get("/admin/students/new").status_code == 200


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"username": "ada"}, "Another account has this username"),
        ({"username": "ADA"}, "Another account has this username"),
        ({"username": ""}, "Enter a username"),
        (
            {"username": "Nora Novak"},
            "A username has no spaces. Use dots instead, such as nora.novak.",
        ),
        ({"name": ""}, "Enter a name"),
        ({"number": ""}, "Enter a student number"),
        ({"number": "N 1"}, "letters and digits without spaces"),
        ({"email": "nora"}, "Enter an email address such as"),
        ({"majors": "NONE, CSC"}, "No subject has the code NONE"),
        ({"department": "NONE"}, "Choose one from the list"),
        ({"credit_limit": "lots"}, "Credit limit: enter a number"),
        ({"credit_limit": "-3"}, "Credit limit: enter a number"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    admin: FlaskClient, changes: Mapping[str, str], why: str
) -> None:
    builders.a_subject("CSC")
    shown = send(admin, NEW, {**FORM, **changes})
    assert shown.status_code == 422
    assert why in words(shown.text)
    assert entries("student.create") == []


def test_number_of_another_student_is_refused(admin: FlaskClient, cast: Cast) -> None:
    said = words(send(admin, NEW, FORM | {"number": cast.ada.number}).text)
    assert "Another student has this number" in said


def test_rules_and_open_sessions_follow_an_edit(
    app: Flask, admin: FlaskClient, term: Term, cast: Cast
) -> None:
    course = builders.a_course(public=False, years=["Senior"])
    section = builders.a_section(course, term)
    builders.an_open_window(term)
    ada = browser_of(app, "ada")
    name = f'id="section-{section.id}"'
    assert name not in ada.get(f"/terms/{term.id}").text
    form = inputs(admin.get(f"{of(cast.ada)}/edit").text)
    changes = {"year": "Senior", "name": "Ada Lovelace", "credit_limit": "12", "level": "Odd"}
    for field, value in changes.items():
        form[field] = value
    said = words(send(admin, f"{of(cast.ada)}/edit", form).text)
    assert "Class year Freshman Senior" in said
    assert "No other student has this value: Level “Odd”." in said
    assert confirmed(admin, f"{of(cast.ada)}/edit", form).status_code == 303
    caches.apply_changes(None)
    assert name in ada.get(f"/terms/{term.id}").text
    assert "Ada Lovelace" in ada.get("/account").text
    [found] = entries("student.edit")
    assert found.before
    assert found.after
    assert (found.before["year"], found.after["year"]) == ("Freshman", "Senior")
    assert found.subject == f"student:{cast.ada.id}"
    assert stored(cast.ada).credit_limit == 12


def test_stale_edit_is_refused_and_both_are_shown(
    app: Flask, admin: FlaskClient, cast: Cast
) -> None:
    builders.an_account("mona", is_admin=True)
    mine = inputs(admin.get(f"{of(cast.ada)}/edit").text)
    mine["campus"] = "North"
    assert edited(browser_of(app, "mona"), of(cast.ada), campus="South").status_code == 303
    shown = send(admin, f"{of(cast.ada)}/edit", mine)
    assert shown.status_code == 409
    said = words(shown.text)
    assert "Someone else has changed this record" in said
    assert "Student edited by Mona" in said
    assert "Campus South North" in said
    assert stored(cast.ada).campus == "South"
    assert confirmed(admin, f"{of(cast.ada)}/edit", inputs(shown.text)).status_code == 303
    assert stored(cast.ada).campus == "North"


def test_number_that_a_list_names_does_not_change(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    section = builders.a_section(builders.a_course(), term)
    cohort = {"students": [cast.ada.number]}
    builders.added(Reserve(section_id=section.id, seats=1, cohort=cohort))
    said = words(edited(admin, of(cast.ada), number="N1").text)
    assert f"Seats reserved for this student: CSC-1100-{section.number}" in said
    assert edited(admin, of(cast.ben), number="N1").status_code == 303
    assert stored(cast.ben).number == "N1"


def test_help_desk_and_auditors_see_no_forms(app: Flask, cast: Cast) -> None:
    builders.an_account("helen", staff_roles=["help_desk"])
    helen = browser_of(app, "helen")
    assert "/edit" not in helen.get(of(cast.ada)).text
    assert helen.get(f"{of(cast.ada)}/edit").status_code == 403
    assert helen.post(NEW, data=FORM).status_code == 403


def test_instructor_is_created_edited_and_deleted_once_no_section_is_theirs(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    builders.a_department("ART")
    new = "/admin/instructors/new"
    form = {"name": "Nils", "email": "nils@example.org", "department": "ART"}
    answer = confirmed(admin, new, form)
    assert answer.status_code == 303
    assert "Nils" in admin.get(answer.location).text
    assert "already has an instructor with this name" in words(confirmed(admin, new, form).text)
    assert len(entries("teacher.create")) == 1

    section = builders.a_section(builders.a_course(), term, instructor=cast.iris)
    builders.an_open_window(term)
    page = f"/admin/instructors/{cast.iris.id}"
    assert edited(admin, page, name="Iris Murdoch", department="ART").status_code == 303
    [found] = entries("teacher.edit")
    assert found.before == {"name": "Iris", "email": "", "department": ""}
    assert "Name: Iris → Iris Murdoch" in words(admin.get(page).text)
    listed = admin.get(f"/admin/terms/{term.id}/sections").text
    assert "Iris Murdoch" in listed

    refused = admin.get(f"{page}/delete")
    assert refused.status_code == 409
    assert f"Sections: CSC-1100-{section.number}" in refused.text
    assert admin.post(f"{page}/delete", data={"reason": WHY}).status_code == 409
    gone = answer.location.replace("http://localhost", "")
    for _ in range(2):
        assert admin.post(f"{gone}/delete", data={"reason": WHY}).status_code == 303
    assert admin.get(gone).status_code == 404
    with transaction() as session:
        nils = session.scalars(select(Instructor).where(Instructor.name == "Nils")).one()
    assert nils.deleted_at
    assert len(entries("catalog.delete")) == 1


def test_stale_edit_of_an_instructor_is_refused(admin: FlaskClient, cast: Cast) -> None:
    page = f"/admin/instructors/{cast.iris.id}"
    mine = inputs(admin.get(f"{page}/edit").text)
    mine["name"] = "Mine"
    assert edited(admin, page, name="Theirs").status_code == 303
    shown = send(admin, f"{page}/edit", mine)
    assert shown.status_code == 409
    assert "Name Theirs Mine" in words(shown.text)


def test_an_import_keeps_what_was_edited_and_shows_it(admin: FlaskClient, tmp_path: Path) -> None:
    school = School()
    imported(school.write(tmp_path))
    with transaction() as session:
        student = session.scalars(select(Student).where(Student.number == "S-1")).one()
    assert edited(admin, of(student), name="Sam Parker", level="Graduate").status_code == 303
    school.rows["users"][1]["email"] = "sam@example.edu"
    for _ in range(2):
        _counts, report = imported(school.write(tmp_path))
        [note] = [each for each in report.notes if each.kind == "edited"]
        assert (note.column, note.value) == ("name", "Sam Park")
        assert "Here: “Sam Parker”." in note.why
        found = stored(student)
        assert (found.name, found.level) == ("Sam Parker", "Graduate")
        assert found.email == "sam@example.edu"
    _counts, report = imported(school.write(tmp_path), overwrite=True)
    assert [each.kind for each in report.notes if each.column == "name"] == ["overwritten"]
    assert stored(student).name == "Sam Park"


def test_an_import_under_another_number_follows_the_student(
    admin: FlaskClient, tmp_path: Path
) -> None:
    school = School()
    imported(school.write(tmp_path))
    with transaction() as session:
        student = session.scalars(select(Student).where(Student.number == "S-1")).one()
    assert edited(admin, of(student), number="S-9").status_code == 303
    school.rows["users"][1]["identifier"] = "S-9"
    counts, _report = imported(school.write(tmp_path))
    assert moved(counts) == {}
    assert stored(student).number == "S-9"


def test_a_changed_address_is_mailed_to_the_old_one_and_admins_keep_theirs(
    admin: FlaskClient, cast: Cast
) -> None:
    page = of(cast.ada)
    assert edited(admin, page, email="ada@example.org").status_code == 303
    assert edited(admin, page, email="other@example.org").status_code == 303
    with transaction() as session:
        found = session.scalars(select(OutboxEntry).where(OutboxEntry.kind == "alert")).all()
        [mail] = [compose(session, each).message for each in found]
    assert mail["To"] == "Ada <ada@example.org>"
    assert "email address of your account was changed" in mail["Subject"]
    with transaction() as session:
        session.get_one(Account, cast.ada.account_id).is_admin = True
    shown = edited(admin, page, email="thief@example.org")
    assert "belongs to the registrar’s office" in words(shown.text)
    assert stored(cast.ada).email == "other@example.org"


def test_a_confirmed_edit_that_is_sent_twice_is_done_once(admin: FlaskClient, cast: Cast) -> None:
    form = inputs(admin.get(f"{of(cast.ada)}/edit").text)
    form["name"] = "Ada Lovelace"
    review = with_reason(send(admin, f"{of(cast.ada)}/edit", form).text)
    for _ in range(2):
        assert admin.post(f"{of(cast.ada)}/edit", data=review).status_code == 303
    assert len(entries("student.edit")) == 1
