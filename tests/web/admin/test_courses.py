"""Courses are created and edited on pages; sections follow in the terms that an admin chooses."""

import re
from datetime import date

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select, update

from portal.backend import backend
from portal.catalog import courses
from portal.catalog.models import Course, CrossList, Section, Subject, Term
from portal.core.db import transaction
from portal.people.models import CompletedCourse
from tests import cast as builders
from tests.audit_trail import entries, entry
from tests.cast import Cast
from tests.register import claim
from tests.web.admin.records import WHY, confirmed, edited, with_reason
from tests.web.admin.sections.forms import inputs
from tests.web.pages import send, words
from tests.web.visitors import browser_of

NEW = "/admin/courses/new"
FORM = {
    "code": "csci 1200",
    "credits": "4",
    "title": "Data Structures",
    "department": "SCI",
    "whom": "everyone",
}


@pytest.fixture
def course(term: Term) -> Course:
    assert term
    return builders.a_course("CSC-1100")


def address(course: Course, act: str = "") -> str:
    return f"/admin/courses/{course.id}{act}"


def stored(course: Course) -> courses.CourseDetails:
    with transaction() as session:
        return courses.details(session, session.get_one(Course, course.id))


def reread(section: Section) -> Section:
    with transaction() as session:
        return session.get_one(Section, section.id)


def test_course_is_created_and_new_sections_begin_with_it(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    builders.a_course("MATH-1010")
    form = FORM | {
        "prerequisites": "MATH-1010 and (CSC-1 or CSC-2)",
        "categories": "Core,  Writing intensive",
        "description": "Lists.\nTrees.",
    }
    shown = send(admin, NEW, form)
    said = words(shown.text)
    assert "CSCI is a new subject. It will be added." in said
    assert "No course has the code CSC 1." in said
    assert "No course has the code MATH 1010." not in said
    answer = confirmed(admin, NEW, form)
    assert answer.status_code == 303
    page = words(admin.get(answer.location).text)
    assert "Data Structures" in page
    assert "MATH 1010 and (CSC 1 or CSC 2)" in page.replace("-", " ")
    assert f"Course created {WHY}" in re.sub(r"\S+ \S+ · Max ", "", page) or WHY in page
    found = entry("course.create")
    assert (found.account_id, found.reason) == (cast.max.id, WHY)
    assert found.after
    assert found.after["code"] == "CSCI-1200"
    number = int(answer.location.rpartition("/")[2])
    new = admin.get(f"/admin/terms/{term.id}/sections/new?course={number}").text
    assert "MATH-1010 and (CSC-1 or CSC-2)" in new
    assert "Data Structures" in admin.get("/admin/search?q=data+struct").text


def test_form_sent_twice_creates_one_course(admin: FlaskClient, term: Term) -> None:
    assert term
    builders.a_department()
    shown = send(admin, NEW, FORM)
    form = with_reason(shown.text)
    one, other = (admin.post(NEW, data=form) for _ in range(2))
    assert "/admin/courses/" in one.location
    assert one.location == other.location
    entry("course.create")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"code": "1100"}, "is not a course code"),
        ({"code": "CSC-1100"}, "Another course has this code"),
        ({"code": ""}, "Enter a course code"),
        ({"title": " "}, "Enter a title"),
        ({"credits": "4-1"}, "write the lowest number first"),
        ({"credits": "many"}, "enter a number such as 4"),
        ({"department": "NONE"}, "Choose a department"),
        ({"prerequisites": "MATH-1010 and"}, "A course is missing here"),
        ({"prerequisites": "A-1 or B-1 and C-1"}, "“and” and “or” are mixed"),
        ({"prerequisites": "Calculus"}, "“Calculus” is not a course code"),
        ({"corequisites": "(LAB-1"}, "A parenthesis is not closed"),
        ({"prerequisites": "CSCI-1200"}, "CSCI 1200 can’t require itself"),
        ({"whom": "some"}, "Choose at least one year, level or major"),
        ({"whom": "some", "years": "Eternal"}, "Not in the list: Eternal"),
        ({"categories": "x" * 61}, "at most 20 categories"),
        ({"description": "x" * 5000}, "at most 4000 characters"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    admin: FlaskClient, course: Course, changes: dict[str, str], why: str
) -> None:
    shown = send(admin, NEW, FORM | changes)
    assert shown.status_code == 422
    assert why in words(shown.text)
    assert course
    with transaction() as session:
        assert session.scalar(select(Course).where(Course.code == "CSCI-1200")) is None


def test_deleted_course_or_subject_must_be_restored(admin: FlaskClient, course: Course) -> None:
    with transaction() as session:
        gone = {"deleted_at": builders.datetime.now(builders.backend().settings.zone)}
        session.execute(update(Course).values(gone))
        session.execute(update(Subject).values(gone))
    said = words(send(admin, NEW, FORM | {"code": course.code}).text)
    assert "A deleted course has this code. Restore it in the catalog" in said
    said = words(send(admin, NEW, FORM | {"code": "CSC-2"}).text)
    assert "The subject CSC is deleted. Restore it first." in said


def test_students_see_the_edit_and_sections_follow_in_chosen_terms_alone(
    app: Flask, admin: FlaskClient, term: Term, course: Course, cast: Cast
) -> None:
    days = {"starts_on": date(2031, 1, 20), "ends_on": date(2031, 5, 20)}
    later = builders.a_term("Spring 2031", **days)
    here, there = builders.a_section(course, term), builders.a_section(course, later)
    own = builders.a_section(course, term, title="Honors")
    builders.an_open_window(term)
    builders.a_course("MAT-1")
    before = admin.get(address(course, "/edit")).text
    assert "Fall 2030" in before
    form = inputs(before)
    changes = {"title": "Programming", "credits": "3", "prerequisites": "MAT-1"}
    for name, value in changes.items():
        form[name] = value
    form.setlist("terms", [str(term.id)])
    shown = send(admin, address(course, "/edit"), form)
    said = words(shown.text)
    assert f"CSC 1100-{here.number}, Fall 2030" in said
    assert "Spring 2031: 1 section keeps its title, credits and requirements." in said
    assert "Pages of these terms show the course as it is now: Spring 2031, Fall 2030." in said
    assert "No one is enrolled or on the waitlist." in said
    answer = confirmed(admin, address(course, "/edit"), form)
    assert answer.status_code == 303, words(answer.text)
    assert stored(course).title == "Programming"
    for section, title in ((here, "Programming"), (own, "Honors")):
        found = reread(section)
        assert (found.title, found.credits_min, found.version) == (title, 3, 2)
        assert found.prerequisites == {"course": "MAT-1"}
    untouched = reread(there)
    assert (untouched.title, untouched.credits_min, untouched.version) == (course.title, 4, 1)
    assert untouched.prerequisites is None
    ada = browser_of(app, "ada")
    assert "Programming" in ada.get(f"/terms/{term.id}").text
    refused = claim(cast.ada.id, term.id, here.id)
    assert [each.code for each in refused.reasons] == ["prerequisite"]
    builders.added(CompletedCourse(student_id=cast.ben.id, course_code="MAT-1", credits=4))
    assert claim(cast.ben.id, term.id, here.id).outcome == "enrolled"
    [seat] = backend().ledger.registrations(term.id, cast.ben.id).enrolled
    assert seat.credits == 300
    found = entry("course.edit")
    assert found.before
    assert found.after
    assert (found.before["title"], found.after["title"]) == (course.title, "Programming")
    assert [each.reason for each in entries("section.edit")] == [WHY, WHY]


def test_terms_that_are_over_are_not_offered_and_never_change(
    admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term)
    with transaction() as session:
        session.execute(update(Term).values(starts_on=date(2020, 1, 1), ends_on=date(2020, 5, 1)))
    page = admin.get(address(course, "/edit")).text
    assert 'name="terms"' not in page
    assert edited(admin, address(course), title="New", credits="1").status_code == 303
    assert reread(section).title == course.title


def test_who_can_register_follows_at_once(
    app: Flask, admin: FlaskClient, term: Term, course: Course
) -> None:
    builders.a_student("sue", year="Senior")
    section = builders.a_section(course, term)
    builders.an_open_window(term)
    ada, sue = browser_of(app, "ada"), browser_of(app, "sue")
    answer = edited(admin, address(course), whom="some", years=["Senior"])
    assert answer.status_code == 303
    name = f'id="section-{section.id}"'
    assert name in sue.get(f"/terms/{term.id}").text
    assert name not in ada.get(f"/terms/{term.id}").text
    assert edited(admin, address(course), whom="everyone").status_code == 303
    assert stored(course).years == ()


def test_stale_edit_is_refused_and_both_are_shown(
    app: Flask, admin: FlaskClient, course: Course, cast: Cast
) -> None:
    assert cast
    builders.an_account("mona", is_admin=True)
    mine = inputs(admin.get(address(course, "/edit")).text)
    mine["title"] = "Mine"
    assert edited(browser_of(app, "mona"), address(course), title="Theirs").status_code == 303
    shown = send(admin, address(course, "/edit"), mine)
    assert shown.status_code == 409
    said = words(shown.text)
    assert "Someone else has changed this course" in said
    assert "Course edited by Mona" in said
    assert "Title Theirs Mine" in said
    assert stored(course).title == "Theirs"
    answer = confirmed(admin, address(course, "/edit"), inputs(shown.text))
    assert answer.status_code == 303
    assert stored(course).title == "Mine"


def test_section_changed_since_the_review_is_reviewed_again(
    admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term)
    form = inputs(admin.get(address(course, "/edit")).text)
    form["credits"] = "3"
    form.setlist("terms", [str(term.id)])
    reviewed = inputs(send(admin, address(course, "/edit"), form).text)
    with transaction() as session:
        session.execute(update(Section).values(version=7, note="Theirs."))
    reviewed["reason"] = WHY
    again = send(admin, address(course, "/edit"), reviewed)
    assert again.status_code == 200
    assert stored(course).credits == (4, 4)
    answer = confirmed(admin, address(course, "/edit"), inputs(again.text))
    assert answer.status_code == 303
    found = reread(section)
    assert (found.credits_min, found.note) == (3, "Theirs.")


def test_code_changes_only_while_nothing_refers_to_it(
    admin: FlaskClient, term: Term, course: Course, cast: Cast
) -> None:
    with transaction() as session:
        done = CompletedCourse(student_id=cast.ada.id, course_code=course.code, credits=4)
        session.add(done)
    other = builders.a_section(
        builders.a_course("PHY-1", corequisites={"course": course.code}), term
    )
    with transaction() as session:
        session.add(CrossList(section_id=other.id, course_code=course.code))
        session.execute(update(Section).values(prerequisites={"any": [{"course": course.code}]}))
    said = words(edited(admin, address(course), code="CSC-1").text)
    for named in (
        f"Students who have completed it: {cast.ada.number}",
        "Courses that require it: PHY-1",
        f"Sections that require it: PHY-1-{other.number}",
        f"Sections that are also offered as this course: PHY-1-{other.number}",
        "Create a new course instead.",
    ):
        assert named in said
    assert stored(course).code == "CSC-1100"
    free = builders.a_course("CSC-2")
    assert edited(admin, address(free), code="CSC-3").status_code == 303
    assert stored(free).code == "CSC-3"


def test_course_in_use_is_not_deleted_and_says_by_what(
    admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term)
    builders.a_course("PHY-1", prerequisites={"course": course.code})
    assert f"/admin/catalog/course/{course.id}/delete" in admin.get(address(course)).text
    shown = admin.get(f"/admin/catalog/course/{course.id}/delete")
    said = words(shown.text)
    assert f"Sections: CSC-1100-{section.number}; Courses that require it: PHY-1" in said


def test_page_has_sections_by_term_and_history(
    app: Flask, admin: FlaskClient, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term)
    assert edited(admin, address(course), title="Programming").status_code == 303
    page = admin.get(address(course)).text
    assert f"/admin/terms/{term.id}/sections/{section.id}" in page
    said = words(page)
    assert "Course edited Title: Course CSC-1100 → Programming" in said
    assert WHY in said
    assert "Programming" in words(admin.get("/admin/audit?about=csc+1100").text)
    builders.an_account("helen", staff_roles=["help_desk"])
    helped = browser_of(app, "helen").get(address(course))
    assert "Programming" in helped.text
    assert "/edit" not in helped.text
    assert admin.get("/admin/courses/999999").status_code == 404
