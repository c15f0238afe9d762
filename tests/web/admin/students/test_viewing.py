"""A registrar views a student's pages: read only, in the audit trail, and unseen by the student."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import func, select, text, update

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.models import Base
from portal.people import visitors
from portal.people.models import Account, Student
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.http.all_routes import a_values as values_of
from tests.web.http.all_routes import address, routes
from tests.web.pages import held, press, seat, words
from tests.web.visitors import browser_of

REASON = {"reason": "She has called about her plan."}
BANNER = "You are viewing as Ada."
# Counted by requests alone, whoever sends them.
COUNTED = ("limit:", "drafts:", "heartbeat", "metrics")


def of(student: Student) -> str:
    return f"/admin/students/{student.id}"


def view(app: Flask, student: Student, username: str = "max") -> FlaskClient:
    """Return a browser in which somebody views the pages of the student."""
    client = browser_of(app, username)
    assert client.post(f"{of(student)}/view", data=REASON).status_code == 303
    return client


def state() -> dict[str, Any]:
    """Return all rows but the audit trail's, and all keys that are not counts of requests."""
    left_out = {"audit_entries", "people_changes", "flags"}
    found: dict[str, Any] = {}
    with transaction() as session:
        for name in Base.metadata.tables.keys() - left_out:
            rows = session.execute(text(f"SELECT * FROM {name}")).all()  # noqa: S608  our tables
            found[name] = sorted(repr([_plain(each) for each in row]) for row in rows)
    redis = backend().redis
    for key in redis.scan_iter():
        name = key.decode() if isinstance(key, bytes) else key
        if not name.startswith(COUNTED):
            found[name] = redis.dump(key)
    return found


def _plain(value: Any) -> Any:
    return bytes(value) if isinstance(value, memoryview) else value


@pytest.fixture
def section(term: Term) -> Section:
    return builders.a_section(builders.a_course(), term)


def test_registrar_sees_what_the_student_sees_and_comes_back(
    app: Flask, term: Term, section: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    seat(cast.ada, section)
    admin = browser_of(app, "max")
    assert f"{of(cast.ada)}/view" in admin.get(of(cast.ada)).text
    assert admin.post(f"{of(cast.ada)}/view", data={}).status_code == 422
    admin = view(app, cast.ada)
    page = admin.get(f"/terms/{term.id}/mine").text
    assert BANNER in page
    assert "data-viewing" in page
    assert "Stop viewing" in page
    assert "Course CSC-1100" in page
    assert BANNER in admin.get(f"/terms/{term.id}").text
    assert BANNER not in browser_of(app, "ada").get(f"/terms/{term.id}").text
    assert admin.get(of(cast.ada)).status_code == 403
    assert admin.get(f"{of(cast.ben)}/view").status_code == 403  # not nested
    assert admin.post(f"{of(cast.ben)}/view", data=REASON).status_code == 403
    answer = admin.post("/admin/viewing/stop")
    assert answer.location.endswith(of(cast.ada))
    assert BANNER not in admin.get(answer.location).text
    one, other = entries("student.view%")
    assert (one.action, other.action) == ("student.view", "student.view_end")
    assert {one.account_id, other.account_id} == {cast.max.id}
    assert {one.subject, other.subject} == {f"student:{cast.ada.id}"}
    assert one.reason == REASON["reason"]


def test_every_write_is_refused_and_nothing_changes(app: Flask, cast: Cast) -> None:
    values = values_of(app, cast)
    admin = view(app, cast.ada)
    before = state()
    for name, method, route in routes(app):
        if route.endpoint in {"admin.viewing.stop", "login.log_out", "live.socket"}:
            continue
        # A calendar is for whoever has its address.
        if route.endpoint.startswith(("calendar.", "health.", "oidc.", "metrics", "static")):
            continue
        built = address(route, values)
        answer = admin.open(built, method=method, data={} if method != "GET" else None)
        if method != "GET":
            assert answer.status_code in {403, 404}, name
    assert state() == before


def test_sockets_and_tokens_are_closed(app: Flask, cast: Cast) -> None:
    admin = view(app, cast.ada)
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade"}
    assert admin.get("/ws", headers=upgrade).status_code == 403
    assert admin.get("/api/v1/semesters").status_code == 403
    assert admin.post("/account/tokens", data={"name": "mine"}).status_code == 403
    assert admin.post("/language", data={"language": "es"}).status_code == 403
    with transaction() as session:
        ada = session.get_one(Account, cast.ada.account_id)
    assert ada.language == ""


def test_no_one_with_another_role_is_viewed(app: Flask, cast: Cast) -> None:
    with transaction() as session:
        hers = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(hers.values(staff_roles=["auditor"]))
    admin = browser_of(app, "max")
    assert "another role" in admin.get(f"{of(cast.ada)}/view").text
    assert admin.post(f"{of(cast.ada)}/view", data=REASON).status_code == 409
    assert admin.get(of(cast.ada)).status_code == 200
    assert entries("student.view%") == []


def test_only_the_registrar_views(app: Flask, cast: Cast) -> None:
    for name, role in (("helen", "help_desk"), ("audrey", "auditor")):
        builders.an_account(name, staff_roles=[role])
        browser = browser_of(app, name)
        assert "/view" not in browser.get(of(cast.ada)).text
        assert browser.post(f"{of(cast.ada)}/view", data=REASON).status_code == 403


def test_logging_out_ends_it_for_the_one_who_views(
    app: Flask, term: Term, section: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada, admin = browser_of(app, "ada"), view(app, cast.ada)
    assert admin.post("/logout").status_code == 302
    assert admin.get(of(cast.ada)).status_code == 302
    assert [each.action for each in entries("student.view%")] == [
        "student.view",
        "student.view_end",
    ]
    press(ada, section, "pick")
    assert held(term, cast.ada) == [section.id]
    with transaction() as session:
        ended = session.get_one(Account, cast.ada.account_id).ended_sessions
    assert ended == {}


def test_view_ends_with_the_right(app: Flask, term: Term, cast: Cast) -> None:
    admin = view(app, cast.ada)
    builders.an_account("mona", is_admin=True)
    with transaction() as session:
        session.execute(update(Account).where(Account.id == cast.max.id).values(is_admin=False))
        assert session.scalar(select(func.count()).select_from(Account))
    visitors.forget(cast.max.id)
    assert admin.get(f"/terms/{term.id}/mine").status_code == 403
    assert words(admin.get("/").text)
    assert [each.action for each in entries("student.view%")] == [
        "student.view",
        "student.view_end",
    ]


def test_view_ends_with_a_new_role_of_the_student(app: Flask, cast: Cast) -> None:
    admin = view(app, cast.ada)
    with transaction() as session:
        session.get_one(Account, cast.ada.account_id).staff_roles = ["auditor"]
    visitors.forget(cast.ada.account_id)
    assert BANNER not in admin.get("/").text
    assert admin.get(of(cast.ada)).status_code == 200
    _began, ended = entries("student.view%")
    assert (ended.action, ended.account_id) == ("student.view_end", cast.max.id)
    with transaction() as session:
        session.get_one(Account, cast.ada.account_id).staff_roles = []
    visitors.forget(cast.ada.account_id)
    assert admin.get(of(cast.ada)).status_code == 200
