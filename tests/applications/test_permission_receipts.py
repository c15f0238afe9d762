"""Receipts name the rules that an approved application lifted, and the application."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people import permissions, student_profile
from portal.people.models import Student
from portal.people.permissions import Target
from portal.recorder.promotion import promote
from portal.recorder.receipts import Receipt, history
from portal.recorder.recorder import drain
from portal.registration import limits
from tests import cast as builders
from tests import register
from tests.applications.deciders import press as decide
from tests.applications.stories import an_application
from tests.cast import Cast
from tests.runtime.cluster.replicated_ledger import until
from tests.web.pages import press, words
from tests.web.visitors import browser_of

ALLOWED = "Allowed by your permission: prerequisites."


@pytest.fixture
def barred(term: Any, held: Section) -> Section:
    """Return a section with a prerequisite that Ada lacks, and open a window."""
    assert held
    builders.an_open_window(term)
    limits.forget_windows()
    more = {"number": "07", "prerequisites": {"course": "MAT-1010"}}
    return builders.a_section(builders.a_course("CSC-2000"), term, capacity=1, **more)


@pytest.fixture
def approved(admin: FlaskClient, barred: Section, cast: Cast) -> int:
    """Return an application of Ada's that gave her the permission."""
    made = an_application("permission", cast.ada, barred)
    assert decide(admin, made, "approve", "/admin/applications").status_code == 303
    until(lambda: has_permission(cast.ada, barred))
    return made


def has_permission(student: Student, section: Section) -> bool:
    """Return whether this process knows of the permission: profiles are kept for 2 s."""
    return section.id in student_profile.profile(student.id).overrides


def latest(student: Student, section: Section) -> Receipt:
    return history(student.id, section.term_id).receipts[0]


def test_claim_has_a_receipt_that_names_rule_and_application(
    ada: FlaskClient, admin: FlaskClient, barred: Section, approved: int, cast: Cast
) -> None:
    press(ada, barred, "pick")
    code = latest(cast.ada, barred).code
    for drained in (False, True):
        if drained:
            drain(barred.term_id, seconds=0)
        mine, admins = ada.get(f"/receipts/{code}").text, admin.get(f"/admin/receipts/{code}").text
        for page in (mine, admins):
            assert f"You added CSC 2000-07. {ALLOWED}" in words(page)
            assert f"Permission Application {approved}" in words(page)
        assert f'href="/terms/{barred.term_id}/applications/{approved}"' in mine
        assert f'href="/admin/applications/{approved}"' in admins
    assert ALLOWED in words(ada.get(f"/terms/{barred.term_id}/history").text)


def test_receipt_is_in_the_language_of_the_reader(
    ada: FlaskClient, barred: Section, approved: int, cast: Cast
) -> None:
    press(ada, barred, "pick")
    code = latest(cast.ada, barred).code
    ada.post("/language", data={"language": "es"})
    page = words(ada.get(f"/receipts/{code}").text)
    assert "Lo permite tu permiso: prerrequisitos." in page
    assert f"Solicitud {approved}" in page


def test_permission_of_the_registrar_names_no_application(
    app: Flask, barred: Section, cast: Cast
) -> None:
    target = Target("ben", "Fall 2030", barred.crn)
    permissions.grant_by_name(target, ["prerequisite", "time_conflict"], "By the dean.", None)
    until(lambda: has_permission(cast.ben, barred))
    ben = browser_of(app, "ben")
    press(ben, barred, "pick")
    page = words(ben.get(f"/receipts/{latest(cast.ben, barred).code}").text)
    assert f"You added CSC 2000-07. {ALLOWED}" in page
    assert "Permission Application" not in page


def test_seat_that_needed_no_permission_names_none(
    ada: FlaskClient, free: Section, barred: Section, approved: int, cast: Cast
) -> None:
    assert approved
    press(ada, free, "pick")
    assert latest(cast.ada, free).applications == []
    page = words(ada.get(f"/receipts/{latest(cast.ada, free).code}").text)
    assert "You added MAT 1-02." in page
    assert "Allowed by" not in page
    assert barred.id != free.id


def test_promotion_names_rule_and_application(
    ada: FlaskClient, barred: Section, approved: int, cast: Cast
) -> None:
    target = Target("ben", "Fall 2030", barred.crn)
    permissions.grant_by_name(target, ["prerequisite"], "By the dean.", None)
    until(lambda: has_permission(cast.ben, barred))
    register.claim(cast.ben.id, barred.term_id, barred.id)
    register.claim(cast.ada.id, barred.term_id, barred.id, wait=True)
    assert f"at position 1. {ALLOWED}" in words(receipt_page(ada, cast.ada, barred))
    register.drop(cast.ben.id, barred.term_id, barred.id)
    assert promote(barred.term_id, "test") == 1
    drain(barred.term_id, seconds=0)
    page = words(receipt_page(ada, cast.ada, barred))
    assert f"You got a seat in CSC 2000-07 from the waitlist. {ALLOWED}" in page
    assert f"Permission Application {approved}" in page


def test_application_is_named_only_for_its_rules_and_its_time(
    barred: Section, approved: int, cast: Cast
) -> None:
    def behind(at: datetime, *codes: str) -> list[int]:
        with transaction() as session:
            return permissions.applications_behind(session, cast.ada.id, barred.id, codes, at)

    now, hour = datetime.now(UTC), timedelta(hours=1)
    permissions.revoke_by_name(Target("ada", "Fall 2030", barred.crn), "A mistake.")
    assert behind(now, "time_conflict", "prerequisite") == [approved]
    assert behind(now, "time_conflict") == []
    assert behind(now - hour, "prerequisite") == []
    assert behind(now + hour, "prerequisite") == []


def receipt_page(browser: FlaskClient, student: Student, section: Section) -> str:
    """Return the page of the student's latest receipt."""
    return browser.get(f"/receipts/{latest(student, section).code}").text
