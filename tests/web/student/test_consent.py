"""Sections that need the instructor's consent: asked for, given, used and taken back."""

from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Section, Term
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.notifications.models import Notification
from portal.people import caches, permissions
from portal.people.models import Account
from portal.recorder import receipts
from portal.recorder.promotion import promote
from portal.recorder.recorder import drain
from tests import cast as builders
from tests.applications.deciders import HERE
from tests.applications.deciders import press as decide
from tests.applications.stories import an_application, history, the
from tests.cast import Cast
from tests.web import pages
from tests.web.api.callers import caller
from tests.web.pages import cell, held, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Term, cast: Cast) -> Section:
    """A section of one seat that Iris teaches."""
    facts: dict[str, Any] = {"capacity": 1, "instructor": cast.iris, "consent": True}
    return builders.a_section(builders.a_course(), term, **facts)


@pytest.fixture
def iris(app: Flask, section: Section) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "iris")


def give(iris: FlaskClient, section: Section, *students: Any) -> None:
    """Let the students ask, and Iris agree."""
    for student in students:
        made = an_application("consent", student, section)
        assert decide(iris, made, "approve").status_code == 303
        assert the(made).state == "approved"
    caches.apply_changes(None)  # without waiting for the next look at changes


def take_back(iris: FlaskClient, section: Section) -> Any:
    """Take back the first consent of the section."""
    given = permissions.consents(section.id)[0].id
    address = f"/teaching/sections/{section.id}/consents/{given}/end"
    assert iris.get(address).status_code == 200
    answer = iris.post(address, data={"reason": "The group is complete."})
    caches.apply_changes(None)
    return answer


def told(kind: str, account: int | None) -> int:
    mine = Notification.kind == kind, Notification.account_id == account
    with transaction() as session:
        return len(session.scalars(select(Notification).where(*mine)).all())


def test_the_picker_offers_to_ask_instead_of_adding(
    ada: FlaskClient, section: Section, iris: FlaskClient, cast: Cast
) -> None:
    ask = f"/terms/{section.term_id}/applications/new/consent?section={section.id}"
    row = unescape(cell(ada.get(f"/terms/{section.term_id}").text, section))
    assert ask in row
    assert "Instructor must agree" in row
    assert "/pick" not in row
    page = unescape(ada.get(pages.address(section, "").rstrip("/")).text)
    assert ask in page
    assert "/pick" not in page
    give(iris, section, cast.ada)
    row = cell(ada.get(f"/terms/{section.term_id}").text, section)
    assert "/pick" in row
    assert "Instructor must agree" not in row


def test_a_claim_without_consent_is_refused_with_the_way_to_ask(
    app: Flask, ada: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    answer = press(ada, section, "pick")
    assert answer.status_code == 422
    assert 'data-reason="consent"' in answer.text
    assert "needs the instructor’s consent." in words(answer.text)
    assert f"/applications/new/consent?section={section.id}" in unescape(answer.text)
    body = {"student_id": cast.ada.id, "semester_id": term.id, "section_ids": [section.id]}
    found = caller(app, "ada").post("/register", body).json
    assert [each["code"] for each in found["data"]["results"][0]["reasons"]] == ["consent"]
    assert held(term, cast.ada) == []


def test_consent_is_for_one_student_and_one_section(
    app: Flask, iris: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    other = builders.a_section(builders.a_course("MAT-1"), term, consent=True)
    give(iris, section, cast.ada)
    ada, ben = browser_of(app, "ada"), browser_of(app, "ben")
    assert press(ben, section, "pick").status_code == 422
    assert press(ada, other, "pick").status_code == 422
    press(ada, section, "pick")
    assert (held(term, cast.ada), held(term, cast.ben)) == ([section.id], [])


def test_the_history_names_who_gave_consent(
    ada: FlaskClient, iris: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    give(iris, section, cast.ada)
    press(ada, section, "pick")
    drain(term.id)
    with transaction() as session:
        given = select(AuditEntry).where(AuditEntry.action == "override.grant")
        entry = session.scalars(given).one()
    assert (entry.account_id, entry.after and entry.after["waives"]) == (
        cast.iris.account_id,
        ["consent"],
    )
    code = receipts.history(cast.ada.id, term.id).receipts[0].code
    assert "Allowed by your permission: instructor’s consent." in words(
        ada.get(f"/receipts/{code}").text
    )


def test_only_instructors_of_the_section_and_admins_decide(
    app: Flask, iris: FlaskClient, section: Section, cast: Cast
) -> None:
    made = an_application("consent", cast.ada, section)
    otto = browser_of(app, "otto")
    assert otto.get(HERE).status_code == 403
    assert otto.post(f"{HERE}/{made}", data={"decision": "approve"}).status_code == 403
    assert f"application-{made}" in iris.get(HERE).text
    page = unescape(iris.get(f"{HERE}/{made}").text)
    assert "I have read the course’s first book." in page
    assert "the registrar decides next" not in page
    boss = browser_of(app, "max")
    assert decide(boss, made, "approve", "/admin/applications").status_code == 303
    assert history(made) == ["submit", "approve", "done"]
    assert iris.get(f"{HERE}/{made}").status_code == 404


def test_the_instructor_is_notified_and_admins_only_without_one(
    iris: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    an_application("consent", cast.ada, section)
    assert told("consent_asked", cast.iris.account_id) == 1
    assert told("application_sent", cast.max.id) == 0
    assert "There is a new application for CSC 1100-01" in words(iris.get("/inbox").text)
    alone = builders.a_section(builders.a_course("MAT-1"), term, consent=True)
    an_application("consent", cast.ada, alone)
    assert told("application_sent", cast.max.id) == 1


def test_the_registrar_decides_for_a_section_without_instructors(
    app: Flask, ada: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    alone = builders.a_section(builders.a_course("MAT-1"), term, consent=True)
    taught, made = (an_application("consent", cast.ada, each) for each in (section, alone))
    boss, queue = browser_of(app, "max"), "/admin/applications"
    for number, who in ((taught, "Instructor"), (made, "Registrar")):
        page = words(ada.get(f"/terms/{term.id}/applications/{number}").text)
        assert f"In review: {who}" in page
        assert f"Decided by {who}" in words(boss.get(f"{queue}/{number}").text)
        found = boss.get(f"{queue}?stage={who.lower()}").text
        assert [f"application-{each}" in found for each in (taught, made)] == [
            each == number for each in (taught, made)
        ]
    assert f"application-{made}" not in browser_of(app, "iris").get(HERE).text
    assert decide(boss, made, "approve", queue).status_code == 303
    assert the(made).state == "approved"


def test_consent_is_taken_back_until_it_is_used(
    app: Flask, iris: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    give(iris, section, cast.ada)
    assert "Take back" in words(iris.get(f"/teaching/sections/{section.id}").text)
    assert take_back(iris, section).status_code == 303
    ada = browser_of(app, "ada")
    assert press(ada, section, "pick").status_code == 422
    give(iris, section, cast.ada)
    press(ada, section, "pick")
    answer = take_back(iris, section)
    assert answer.status_code == 409
    assert "The student already has a seat." in words(answer.text)
    assert held(term, cast.ada) == [section.id]


def test_taking_back_twice_changes_nothing_more(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    give(iris, section, cast.ada)
    given = permissions.consents(section.id)[0].id
    address = f"/teaching/sections/{section.id}/consents/{given}/end"
    answers = [iris.post(address, data={"reason": "No."}).status_code for _ in range(2)]
    assert answers == [303, 409]
    with transaction() as session:
        ended = select(AuditEntry).where(AuditEntry.action == "override.revoke")
        assert session.scalars(ended).one().account_id == cast.iris.account_id


def test_another_instructor_takes_nothing_back(
    app: Flask, iris: FlaskClient, section: Section, cast: Cast
) -> None:
    give(iris, section, cast.ada)
    given = permissions.consents(section.id)[0].id
    otto = browser_of(app, "otto")
    address = f"/teaching/sections/{section.id}/consents/{given}/end"
    assert otto.post(address, data={"reason": "No."}).status_code == 403
    assert permissions.consents(section.id)


def test_a_waitlist_gives_no_seat_without_consent_and_never_too_many(
    app: Flask, iris: FlaskClient, section: Section, term: Term, cast: Cast
) -> None:
    give(iris, section, cast.ada, cast.ben, cast.cleo)
    for name in ("ada", "ben", "cleo"):
        press(browser_of(app, name), section, "pick")
    given = {each.student: each.id for each in permissions.consents(section.id)}
    address = f"/teaching/sections/{section.id}/consents/{given[cast.ben.id]}/end"
    assert iris.post(address, data={"reason": "The group is complete."}).status_code == 303
    caches.apply_changes(None)
    press(browser_of(app, "ada"), section, "drop")
    promote(term.id, "")
    assert (held(term, cast.ben), held(term, cast.cleo)) == ([], [section.id])
    drain(term.id)
    page = words(browser_of(app, "ben").get(f"/terms/{term.id}/mine").text)
    assert "needs the instructor’s consent." in page
    give(iris, section, cast.ben)
    press(browser_of(app, "cleo"), section, "drop")
    promote(term.id, "")
    assert held(term, cast.ben) == [section.id]


def test_if_the_instructor_has_no_account_any_longer_admins_decide(
    section: Section, cast: Cast
) -> None:
    with transaction() as session:
        session.get_one(Account, cast.iris.account_id).deleted_at = datetime.now(UTC)
    an_application("consent", cast.ada, section)
    assert told("application_sent", cast.max.id) == 1
