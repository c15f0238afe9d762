"""A student's privacy: where it is requested, and where it applies."""

import re

import pytest
from flask import Flask

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Student
from tests.audit_trail import entries
from tests.cast import Cast, a_course, a_section, a_student, a_term
from tests.web.instructor.rosters import enrolled, private, reached_at, waiting
from tests.web.visitors import browser_of

PARTS = ["", "/roster", "/roster.csv", "/emails?to=all", "?q=eve", "?sort=email"]
SECRETS = ("eve@u.example", "Senior", "MTH")


@pytest.fixture
def section(app: Flask, cast: Cast) -> Section:
    """Return a section that Iris teaches."""
    assert app
    return a_section(a_course("CSC-1100"), a_term(), instructor=cast.iris)


@pytest.fixture
def eve(section: Section) -> Student:
    """Return a senior with an email address and a seat."""
    eve = a_student("eve", majors=("MTH",), year="Senior")
    reached_at(eve, "eve@u.example")
    enrolled(section, eve)
    return eve


def wants(student: Student) -> bool:
    with transaction() as session:
        return session.get_one(Student, student.id).private


@pytest.mark.parametrize("part", PARTS)
def test_instructor_sees_only_name_and_number(
    app: Flask, section: Section, eve: Student, part: str
) -> None:
    iris = browser_of(app, "iris")
    address = f"/teaching/sections/{section.id}{part}"
    assert any(secret in iris.get(address).text for secret in SECRETS)
    private(eve)
    answer = iris.get(address)
    assert answer.status_code == 200
    assert not [secret for secret in SECRETS if secret in answer.text]
    if "emails" not in part:
        assert "Eve" in answer.text
        assert eve.number in answer.text


def test_privacy_applies_to_the_waitlist(
    app: Flask, section: Section, eve: Student, cast: Cast
) -> None:
    reached_at(cast.ben, "ben@u.example")
    waiting(section, cast.ben, 9)
    private(cast.ben)
    page = browser_of(app, "iris").get(f"/teaching/sections/{section.id}").text
    assert re.search(r"1\.\s*(<bdi>)?Ben", page)
    assert "ben@u.example" not in page
    assert "eve@u.example" in page
    assert eve


def test_page_explains_the_privacy_rule(app: Flask, section: Section, eve: Student) -> None:
    private(eve)
    page = browser_of(app, "iris").get(f"/teaching/sections/{section.id}").text
    assert "1 student has asked for privacy" in page
    assert "Year, major and email address are hidden." in page


def test_registrar_sees_everything(app: Flask, section: Section, eve: Student) -> None:
    private(eve)
    page = browser_of(app, "max").get(f"/teaching/sections/{section.id}").text
    assert all(secret in page for secret in SECRETS)
    assert "Private" in page


def test_api_hides_details_from_instructors(app: Flask, section: Section, eve: Student) -> None:
    private(eve)
    for what in ("registrations", "waitlist"):
        text = browser_of(app, "iris").get(f"/api/v1/students/{eve.id}/{what}").text
        assert not [secret for secret in (*SECRETS, "Eve") if secret in text]
    assert section


def test_student_can_request_privacy_and_end_it(app: Flask, eve: Student) -> None:
    browser = browser_of(app, "eve")
    assert "Hide my details" in browser.get("/account").text
    for wanted in ("yes", "no"):
        answer = browser.post("/account/privacy", data={"private": wanted})
        assert answer.status_code == 303
        assert wants(eve) == (wanted == "yes")
    assert [each.after for each in entries()] == [{"private": True}, {"private": False}]
    assert {each.account_id for each in entries()} == {eve.account_id}


def test_repeated_privacy_request_is_audited_once(app: Flask, eve: Student) -> None:
    browser = browser_of(app, "eve")
    for _ in range(2):
        browser.post("/account/privacy", data={"private": "yes"})
    assert wants(eve)
    assert len(entries()) == 1


def test_invalid_input_is_refused(app: Flask, eve: Student) -> None:
    assert browser_of(app, "eve").post("/account/privacy").status_code == 400
    assert not wants(eve)


def test_registrar_sets_privacy_with_a_reason(app: Flask, eve: Student, cast: Cast) -> None:
    admin, address = browser_of(app, "max"), f"/admin/students/{eve.id}/privacy"
    assert "This student has not asked for privacy." in admin.get(address).text
    refused = admin.post(address, data={"private": "yes", "reason": " "})
    assert refused.status_code == 422
    assert "Enter a reason" in refused.text
    assert not wants(eve)
    done = admin.post(address, data={"private": "yes", "reason": "In writing, May 3"})
    assert done.status_code == 303
    assert wants(eve)
    (entry,) = entries()
    assert (entry.account_id, entry.reason) == (cast.max.id, "In writing, May 3")
    assert entry.subject == f"student:{eve.id}"


def test_only_students_can_request_privacy(app: Flask, cast: Cast) -> None:
    assert cast
    assert "Hide my details" not in browser_of(app, "iris").get("/account").text


def test_unknown_student_is_not_found(app: Flask, cast: Cast) -> None:
    assert cast
    assert browser_of(app, "max").get("/admin/students/2000000000/privacy").status_code == 404
