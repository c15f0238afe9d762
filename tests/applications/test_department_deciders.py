"""GET and POST /teaching/applications: instructors who decide for their department."""

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import Executable, func, insert, select, text, update

from portal.applications import service
from portal.applications.kinds import KINDS
from portal.applications.models import ApplicationDocument
from portal.applications.service import NotTheirs
from portal.applications.stages import deciders_of
from portal.catalog.models import Course, Department, Instructor, Section
from portal.core.db import transaction
from portal.notifications.kinds import text_of
from portal.notifications.models import Notification
from portal.people import visitors
from portal.people.models import Account, Student
from tests import cast as builders
from tests.applications.deciders import HERE, press, set_decider, set_instructor
from tests.applications.stories import (
    ANSWERS,
    a_visiting_application,
    an_application,
    audit_actions,
    decider,
    history,
    steps,
    the,
)
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.visitors import browser_of


def seen_department(admin: FlaskClient, instructor: Instructor, decides: str) -> str:
    """Return the department that the page to confirm shows, as its form sends it back."""
    page = admin.get(f"/admin/instructors/{instructor.id}/decider?decides={decides}").text
    (found,) = re.findall(r'name="department" value="(\w*)"', page)
    return str(found)


def statuses(browser: FlaskClient, application: int, document: int = 1) -> set[int]:
    """What each page about an application answers, and each decision."""
    here = f"{HERE}/{application}"
    pages = (here, f"{here}/documents/{document}", f"{here}/documents/{document}/pages/0.png")
    found = {browser.get(page).status_code for page in pages}
    return found | {press(browser, application, each).status_code for each in DECISIONS}


DECISIONS = ("approve", "decline", "more")
HIDDEN = {404, 303}  # no page shows it, and a form leads to the queue
NOT_THEIRS = "This application is not waiting for your decision."


def test_the_department_then_the_registrar(
    iris: FlaskClient, admin: FlaskClient, made: int, cast: Cast
) -> None:
    assert f"application-{made}" in iris.get(HERE).text
    page = unescape(iris.get(f"{HERE}/{made}").text)
    assert "If you approve, the registrar decides next." in page
    assert str(KINDS["credit_overload"].approval.effect) not in page
    assert "/admin/" not in page
    answer = press(iris, made, "approve")
    assert answer.location == HERE
    assert "The registrar decides next." in unescape(iris.get(HERE).text)
    assert (the(made).state, the(made).stage) == ("review", 1)
    assert steps(cast.ada.account_id) == ["sent", "forward"]
    assert "Iris" in admin.get(f"/admin/applications/{made}").text
    assert press(admin, made, "approve", "/admin/applications").status_code == 303
    assert the(made).state == "approved"
    assert history(made) == ["submit", "forward", "approve", "done"]


@pytest.mark.parametrize(("decision", "state"), [("decline", "declined"), ("more", "more")])
def test_the_other_decisions(iris: FlaskClient, made: int, decision: str, state: str) -> None:
    assert press(iris, made, decision, note=" ").status_code == 422
    assert press(iris, made, decision).status_code == 303
    assert the(made).state == state
    assert statuses(iris, made) == HIDDEN  # a form that is sent again changes nothing
    assert history(made) == ["submit", decision]


def test_an_answer_comes_back_to_the_department(iris: FlaskClient, made: int, cast: Cast) -> None:
    press(iris, made, "more")
    assert f"application-{made}" not in iris.get(HERE).text
    service.save(made, cast.ada.account_id, ANSWERS["credit_overload"])
    service.submit(made, cast.ada.account_id)
    assert f"application-{made}" in iris.get(HERE).text
    assert press(iris, made, "approve").status_code == 303


def test_a_second_press_decides_nothing(iris: FlaskClient, made: int) -> None:
    version = the(made).version
    assert press(iris, made, "approve", version=version).status_code == 303
    answer = press(iris, made, "approve", version=version)
    assert answer.location == HERE
    assert "This application has already been decided." in unescape(iris.get(HERE).text)
    assert history(made) == ["submit", "forward"]


def test_a_page_that_is_out_of_date_decides_nothing(iris: FlaskClient, made: int) -> None:
    answer = press(iris, made, "approve", version="1")
    assert answer.status_code == 409
    assert history(made) == ["submit"]


def test_admins_still_decide_for_a_department(
    app: Flask, iris: FlaskClient, admin: FlaskClient, made: int, mia: Account
) -> None:
    assert press(admin, made, "approve", "/admin/applications").status_code == 303
    assert statuses(iris, made) == HIDDEN
    assert press(browser_of(app, mia.username), made, "approve", "/admin/applications")
    assert the(made).state == "approved"


def test_who_decided_for_the_department_does_not_decide_again_as_an_admin(
    app: Flask, iris: FlaskClient, made: int, cast: Cast
) -> None:
    press(iris, made, "approve")
    with transaction() as session:
        hers = update(Account).where(Account.id == cast.iris.account_id)
        session.execute(hers.values(is_admin=True))
    visitors.forget(cast.iris.account_id or 0)
    answer = press(browser_of(app, "iris"), made, "approve", "/admin/applications")
    assert answer.status_code == 409
    assert "Someone else must decide the second stage." in unescape(answer.text)


def test_deciders_are_notified_of_what_waits_for_them(
    elsewhere: int, iris: FlaskClient, made: int, cast: Cast
) -> None:
    assert elsewhere
    told = Notification.account_id == cast.iris.account_id
    with transaction() as session:
        (found,) = session.scalars(select(Notification).where(told))
    assert (found.kind, found.data["application"]) == ("application_waiting", made)
    assert "There is a new application for MAT 1-" in unescape(iris.get("/inbox").text)
    assert text_of(found).step.url == f"{HERE}/{made}"
    assert "to your department" in iris.get("/inbox/settings").text


def test_who_is_notified_is_not_asked_of_every_account(
    iris: FlaskClient, made: int, cast: Cast
) -> None:
    assert iris
    names = [f"bystander{number}" for number in range(1000)]
    hear = select(Account.id).where(deciders_of(made))
    with transaction() as session:
        session.execute(insert(Account), [{"username": name, "name": name} for name in names])
        session.execute(text("ANALYZE accounts, instructors, applications"))
        assert session.scalars(hear).all() == [cast.iris.account_id]
        compiled = hear.compile(session.get_bind(), compile_kwargs={"literal_binds": True})
        (plan,) = session.scalar(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {compiled}"))
        session.rollback()
    assert sum(read_by(plan["Plan"])) < 100, plan


def read_by(node: dict[str, Any]) -> Iterator[float]:
    """Yield how many rows each part of a plan reads from a table."""
    if "Relation Name" in node:
        rows = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
        yield rows * node["Actual Loops"]
    for each in node.get("Plans", ()):
        yield from read_by(each)


# Applications that a decider may not see or decide


def test_nothing_else_is_theirs(iris: FlaskClient, made: int, others: dict[str, int]) -> None:
    page = iris.get(f"{HERE}?state=&stage=registrar&kind=late_add").text
    assert page.count('id="application-') == 1
    assert f'id="application-{made}"' in page
    known = {why: each for why, each in others.items() if each < 999_999}
    before = {why: the(each).version for why, each in known.items()}
    for why, each in others.items():
        sent = {"note": "Fine.", "version": before.get(why, 1)}
        forms = [sent | {"decision": decision} for decision in DECISIONS]
        assert {iris.post(f"{HERE}/{each}", data=form).location for form in forms} == {HERE}, why
        assert NOT_THEIRS in iris.get(HERE).text, why
        assert iris.get(f"{HERE}/{each}").status_code == 404, why
    assert {why: the(each).version for why, each in known.items()} == before


def test_nor_is_their_own_application(
    app: Flask, iris: FlaskClient, free: Section, cast: Cast
) -> None:
    student = builders.added(Student(account_id=cast.iris.account_id, number="N9"))
    visitors.forget(cast.iris.account_id or 0)
    made = an_application("credit_overload", student, free)
    browser = browser_of(app, "iris")
    assert iris
    assert f"application-{made}" not in browser.get(HERE).text
    assert statuses(browser, made) == HIDDEN
    assert history(made) == ["submit"]


def test_pages_of_admins_stay_closed(iris: FlaskClient, made: int) -> None:
    here = "/admin/applications"
    for page in (here, f"{here}/{made}", f"{here}/all.csv", f"{here}/retention"):
        assert iris.get(page).status_code == 403
    for page in (f"{here}/{made}/refund", f"{here}/{made}/documents/check", f"{here}/retention"):
        assert iris.post(page, data={"reason": "So."}).status_code == 403
    for page in ("retention", f"{made}/refund"):
        assert iris.get(f"{HERE}/{page}").status_code == 404


@pytest.mark.usefixtures("iris")
def test_an_instructor_who_is_no_decider_is_refused(
    app: Flask, made: int, science: Department, cast: Cast
) -> None:
    set_instructor(cast.otto, department_id=science.id)
    browser = browser_of(app, "otto")
    assert browser.get(HERE).status_code == 403
    assert statuses(browser, made) == {403}
    assert f'href="{HERE}"' not in browser.get("/teaching").text


@pytest.mark.parametrize("name", ["ada", "ben", "max"])
@pytest.mark.usefixtures("iris")
def test_others_are_refused(app: Flask, made: int, name: str) -> None:
    assert statuses(browser_of(app, name), made) == {403}


# Who becomes a decider, and no longer is one


def test_an_admin_makes_an_instructor_a_decider(
    iris: FlaskClient, admin: FlaskClient, cast: Cast
) -> None:
    assert f'href="{HERE}"' in iris.get("/teaching").text
    page = admin.get(f"/admin/instructors/{cast.iris.id}").text
    assert "Decides applications for Department of SCI" in page
    assert 'name="decides" value="1" checked' in page
    assert audit_actions()[-1] == "teacher.decides"
    last = entries()[-1]
    assert (last.account_id, last.reason) == (cast.max.id, "The chair asked.")
    assert (last.before, last.after) == ({"decides": None}, {"decides": "SCI"})


def test_the_right_needs_a_reason_an_account_and_a_department(
    admin: FlaskClient, science: Department, cast: Cast
) -> None:
    assert set_decider(admin, cast.iris, "1").status_code == 404  # of no department
    set_instructor(cast.iris, department_id=science.id)
    here = f"/admin/instructors/{cast.iris.id}/decider"
    assert "Let this account decide for the department" in admin.get(f"{here}?decides=1").text
    assert admin.post(here, data={"account": "iris", "decides": "1"}).status_code == 422
    other = {"account": "otto", "decides": "1", "department": "SCI", "reason": "So."}
    assert admin.post(here, data=other).status_code == 409
    set_instructor(cast.iris, account_id=None)
    assert admin.get(f"{here}?decides=1").status_code == 404
    assert set_decider(admin, cast.iris, "1").status_code == 409


def stop(admin: FlaskClient, cast: Cast) -> None:
    assert set_decider(admin, cast.iris, "").status_code == 303


def unlink(admin: FlaskClient, cast: Cast) -> None:
    form = {"account": "iris", "reason": "Left."}
    here = f"/admin/instructors/{cast.iris.id}"
    assert admin.post(f"{here}/unlink", data=form).status_code == 303
    assert admin.post(f"{here}/link", data=form).status_code == 303  # without the right


@pytest.mark.parametrize("ends", [stop, unlink])
def test_a_right_that_ends_does_so_at_once(
    iris: FlaskClient, admin: FlaskClient, made: int, cast: Cast, ends: object
) -> None:
    assert iris.get(f"{HERE}/{made}").status_code == 200
    assert callable(ends)
    ends(admin, cast)
    assert iris.get(HERE).status_code == 403
    assert statuses(iris, made) == {403}
    assert history(made) == ["submit"]


def test_the_right_does_not_move_to_another_department(
    elsewhere: int, iris: FlaskClient, admin: FlaskClient, made: int, cast: Cast
) -> None:
    set_instructor(cast.iris, department_id=builders.a_department("ART").id)  # as imports may do
    assert iris.get(HERE).status_code == 403
    assert statuses(iris, made) | statuses(iris, elsewhere) == {403}
    page = admin.get(f"/admin/instructors/{cast.iris.id}").text
    assert 'name="decides" value="1">' in page
    assert "The right to decide for Department of SCI is suspended until" in page


@pytest.mark.parametrize("elsewhere", ["ART", None])
def test_a_right_that_rests_can_be_ended(  # noqa: PLR0917  fixtures
    iris: FlaskClient,
    admin: FlaskClient,
    made: int,
    science: Department,
    cast: Cast,
    elsewhere: str | None,
) -> None:
    other = builders.a_department(elsewhere).id if elsewhere else None
    set_instructor(cast.iris, department_id=other)
    department = seen_department(admin, cast.iris, "")
    assert set_decider(admin, cast.iris, "", department).status_code == 303
    assert set_decider(admin, cast.iris, "", department).status_code == 303  # sent twice
    set_instructor(cast.iris, department_id=science.id)
    assert iris.get(HERE).status_code == 403
    assert statuses(iris, made) == {403}
    assert (entries()[-1].before, entries()[-1].after) == ({"decides": "SCI"}, {"decides": None})


def test_an_admin_confirms_one_department(
    admin: FlaskClient, made: int, science: Department, cast: Cast
) -> None:
    set_instructor(cast.iris, department_id=science.id)
    department = seen_department(admin, cast.iris, "1")
    art = builders.a_department("ART").id
    set_instructor(cast.iris, department_id=art)
    refused = set_decider(admin, cast.iris, "1", department)
    assert refused.status_code == 409
    assert "Someone else has changed this." in refused.text
    assert set_decider(admin, cast.iris, "1", "").status_code == 409
    assert set_decider(admin, cast.iris, "1", "ART").status_code == 303
    assert set_decider(admin, cast.iris, "", department).status_code == 409  # a right for ART
    assert entries()[-1].after == {"decides": "ART"}
    assert made


@pytest.mark.parametrize(
    "change",
    [
        update(Instructor).values(decides_for_id=None),
        update(Instructor).values(deleted_at=func.now()),
        update(Instructor).values(account_id=None),
        update(Account).where(Account.username == "iris").values(deleted_at=func.now()),
    ],
    ids=["right", "instructor", "link", "account"],
)
@pytest.mark.usefixtures("iris")
def test_a_right_that_ends_while_the_decision_is_made(
    made: int, cast: Cast, change: Executable
) -> None:
    seen = replace(decider(made, cast.iris.account_id or 0), limited=True)
    with transaction() as session:
        session.execute(change)
    for decide in (service.approve, service.decline, service.ask_more):
        with pytest.raises(NotTheirs):
            decide(made, seen)
    assert history(made) == ["submit"]


def test_a_disabled_account_decides_nothing(iris: FlaskClient, made: int, cast: Cast) -> None:
    with transaction() as session:
        hers = update(Account).where(Account.id == cast.iris.account_id)
        session.execute(hers.values(deleted_at=func.now()))
    assert statuses(iris, made) <= {302, 303, 401, 403}  # a process may know it for 2 s more
    visitors.forget(cast.iris.account_id or 0)
    assert iris.get(HERE).status_code == 302
    assert press(iris, made, "approve").status_code in {302, 303, 401}
    assert history(made) == ["submit"]


# Visiting students: with documents, and about courses of one department or several


@pytest.fixture
def visiting(paying: None, free: Section, vera: Account) -> int:  # noqa: ARG001
    """An application about a course of the department."""
    return a_visiting_application(vera, free.term_id)


def document_of(application: int) -> int:
    with transaction() as session:
        mine = ApplicationDocument.application_id == application
        return session.scalars(select(ApplicationDocument.id).where(mine)).one()


def test_documents_are_beside_the_form(iris: FlaskClient, visiting: int) -> None:
    page = unescape(iris.get(f"{HERE}/{visiting}").text)
    document = document_of(visiting)
    here = f"{HERE}/{visiting}/documents/{document}"
    assert f'src="{here}/pages/0.png"' in page
    assert "refund" not in page.lower()
    assert iris.get(f"{here}/pages/0.png").mimetype == "image/png"
    assert audit_actions().count("application.document") == 1
    assert iris.get(here).headers["Content-Disposition"].startswith("attachment")
    assert iris.get(f"{HERE}/{visiting}/documents/999999").status_code == 404
    press(iris, visiting, "approve")
    assert {iris.get(each).status_code for each in (here, f"{here}/pages/0.png")} == {404}


def test_documents_of_another_application_are_not_found(
    iris: FlaskClient, visiting: int, made: int
) -> None:
    document = document_of(visiting)
    assert iris.get(f"{HERE}/{made}/documents/{document}").status_code == 404
    assert iris.get(f"{HERE}/{made}/documents/{document}/pages/0.png").status_code == 404


@pytest.mark.usefixtures("paying")
def test_courses_of_several_departments_are_for_admins(
    elsewhere: int, iris: FlaskClient, admin: FlaskClient, free: Section, vera: Account
) -> None:
    assert elsewhere
    made = a_visiting_application(vera, free.term_id, courses="MAT 1, ART 1")
    assert statuses(iris, made) == HIDDEN
    assert history(made) == ["paid", "submit", "checked"]
    assert press(admin, made, "approve", "/admin/applications").status_code == 303


def test_a_course_that_moves_takes_the_application_to_its_new_department(
    iris: FlaskClient, visiting: int, free: Section, science: Department
) -> None:
    art = builders.a_department("ART").id
    assert f"application-{visiting}" in iris.get(HERE).text
    for department, shown in ((art, False), (science.id, True)):
        with transaction() as session:  # as imports may do
            moved = update(Course).where(Course.id == free.course_id)
            session.execute(moved.values(department_id=department))
        assert (f"application-{visiting}" in iris.get(HERE).text) is shown
        assert (iris.get(f"{HERE}/{visiting}").status_code == 200) is shown
