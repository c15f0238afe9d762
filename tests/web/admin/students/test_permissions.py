"""Granting and revoking permissions through the pages."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.catalog.models import Section, Term
from portal.people import student_profile
from portal.people.models import Student
from tests import cast as builders
from tests.cast import Cast
from tests.web.admin.students.forms import WHY, entries, holds, text_of
from tests.web.pages import press as pick
from tests.web.visitors import browser_of


@pytest.fixture
def barred(term: Term) -> Any:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    return builders.a_section(builders.a_course("CSC-2000"), term, **needs)


def permit(
    admin: FlaskClient, student: Student, section: Section, /, **fields: Any
) -> TestResponse:
    form = {"term": section.term_id, "section": section.crn, "waives": ["prerequisite"]}
    position = f"/admin/students/{student.id}/overrides/new"
    return admin.post(position, data={**form, "reason": WHY, **fields})


def permitted(student: Student) -> dict[int, frozenset[str]]:
    return dict(student_profile.read(student.id).overrides)


def take_back(admin: FlaskClient, student: Student, **fields: str) -> TestResponse:
    number = entries()[0].subject.rpartition(":")[2]
    position = f"/admin/students/{student.id}/overrides/{number}/revoke"
    return admin.post(position, data={"reason": WHY, **fields})


def test_student_can_claim_despite_the_rule(
    app: Flask, admin: FlaskClient, cast: Cast, barred: Section
) -> None:
    assert permit(admin, cast.ada, barred).status_code == 303
    assert permitted(cast.ada) == {barred.id: {"prerequisite"}}
    pick(browser_of(app, "ada"), barred, "pick")
    assert holds(cast.ada, barred.term_id) == [barred.id]
    text = text_of(admin.get(f"/admin/students/{cast.ada.id}"))
    assert "CSC 2000-01 , Fall 2030 Active Does not apply: A prerequisite is missing" in text


def test_permission_and_revocation_are_audited(
    admin: FlaskClient, cast: Cast, barred: Section
) -> None:
    permit(admin, cast.ada, barred)
    take_back(admin, cast.ada, reason="A mistake.")
    assert permitted(cast.ada) == {}
    found = [(each.action, each.account_id, each.reason) for each in entries()]
    assert found == [
        ("override.grant", cast.max.id, WHY),
        ("override.revoke", cast.max.id, "A mistake."),
    ]


def test_form_sent_twice_has_one_effect(admin: FlaskClient, cast: Cast, barred: Section) -> None:
    for _ in range(2):
        permit(admin, cast.ada, barred)
    for _ in range(2):
        take_back(admin, cast.ada)
    assert [each.action for each in entries()] == ["override.grant", "override.revoke"]


def test_all_errors_are_shown(admin: FlaskClient, cast: Cast, barred: Section) -> None:
    wrong = {"section": "none", "waives": "full", "until": "soon", "reason": ""}
    text = text_of(permit(admin, cast.ada, barred, **wrong))
    for each in (
        "no section with this CRN",
        "Not in the list: full",
        "Until: enter a date",
        "Enter a reason",
    ):
        assert each in text
    assert entries() == []


def test_end_in_the_past_is_refused(admin: FlaskClient, cast: Cast, barred: Section) -> None:
    assert "this date is in the past" in text_of(
        permit(admin, cast.ada, barred, until="2020-01-01")
    )
    assert entries() == []


def test_unknown_term_is_refused(admin: FlaskClient, cast: Cast, barred: Section) -> None:
    assert "Choose a term." in text_of(permit(admin, cast.ada, barred, term="99999"))


def test_permission_of_another_student_is_not_found(
    admin: FlaskClient, cast: Cast, barred: Section
) -> None:
    permit(admin, cast.ada, barred)
    number = entries()[0].subject.rpartition(":")[2]
    position = f"/admin/students/{cast.ben.id}/overrides/{number}/revoke"
    assert admin.post(position, data={"reason": WHY}).status_code == 404
    assert permitted(cast.ada)
