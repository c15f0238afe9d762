"""An adviser sees the records and plans of advisees, and clears them to register."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.notifications.models import Notification
from portal.people import caches, holds, staff, student_profile
from portal.people.holds import NewHold
from portal.people.models import Account, Hold, Student
from portal.people.staff import NOTHING, Grant
from portal.recorder.promotion import promote
from tests import cast as builders
from tests.audit_trail import entries
from tests.cast import Cast
from tests.web.pages import press, seat, words
from tests.web.student.plans import plan_section
from tests.web.visitors import browser_of

ADVISES = Grant(roles=frozenset({"adviser"}))


@pytest.fixture
def vic(cast: Cast) -> Account:  # noqa: ARG001
    return builders.an_account("vic", email="vic@u.example", staff_roles=["adviser"])


@pytest.fixture
def adviser(app: Flask, cast: Cast, admin: FlaskClient, vic: Account) -> FlaskClient:
    """Vic, who advises Ada."""
    assert assign(admin, cast.ada, vic.username).status_code == 303
    return browser_of(app, "vic")


@pytest.fixture
def section(term: Term) -> Section:
    builders.an_open_window(term)
    return builders.a_section(builders.a_course("CSC-1100"), term)


def assign(admin: FlaskClient, student: Student, username: str, seen: int = 0) -> Any:
    form = {"account": username, "adviser": seen, "reason": "first year"}
    return admin.post(f"/admin/students/{student.id}/adviser", data=form)


def hold(cast: Cast, student: Student, *, clearance: bool = True) -> int:
    wanted = NewHold("Advising", "A talk is due.", "", adviser_lifts=clearance)
    holds.place(student.id, wanted, by=cast.max.id, why="policy")
    with transaction() as session:
        return session.scalars(select(Hold.id).where(Hold.student_id == student.id)).one()


def act(browser: FlaskClient, student: Student, hold_id: int, what: str = "lift") -> Any:
    form = {"reason": "We talked."}
    return browser.post(f"/admin/students/{student.id}/holds/{hold_id}/{what}", data=form)


def lifted(hold_id: int) -> bool:
    with transaction() as session:
        return session.get_one(Hold, hold_id).lifted_at is not None


def pick(app: Flask, section: Section, **more: Any) -> str:
    student_profile._profiles.clear()  # noqa: SLF001  rather than wait two seconds
    return words(press(browser_of(app, "ada"), section, "pick", **more).text)


def test_adviser_sees_advisees_alone(adviser: FlaskClient, cast: Cast) -> None:
    listed = words(adviser.get("/admin/students").text)
    assert "Ada" in listed
    assert "Ben" not in listed
    found = adviser.get(f"/admin/students?q={cast.ben.number}")
    assert (found.status_code, "Ben" in words(found.text)) == (200, False)
    assert adviser.get(f"/admin/students/{cast.ada.id}").status_code == 200
    assert adviser.get(f"/admin/students/{cast.ben.id}").status_code == 404


def test_advisers_are_suggested_and_one_without_advisees_reads_why(
    app: Flask, admin: FlaskClient, vic: Account, cast: Cast
) -> None:
    page = admin.get(f"/admin/students/{cast.ada.id}/adviser").text
    assert f'<option value="{vic.username}">{vic.name}</option>' in page
    assert 'list="advisers"' in page
    assert "max</option>" not in page.casefold()
    alone = browser_of(app, "vic")
    assert "No students are assigned to you yet." in words(alone.get("/admin/students").text)
    assert "No student matches." in words(alone.get("/admin/students?q=x").text)


def test_adviser_sees_plan_schedule_and_record(
    app: Flask, adviser: FlaskClient, cast: Cast, section: Section, term: Term
) -> None:
    planned = builders.a_section(builders.a_course("ART-2000"), term)
    assert plan_section(browser_of(app, "ada"), planned).status_code < 400
    seat(cast.ada, section)
    shown = words(adviser.get(f"/admin/students/{cast.ada.id}").text)
    for expected in ("CSC 1100-01", "ART 2000-02", "Completed courses"):
        assert expected in shown


def test_clearance_lets_the_student_register(
    app: Flask, adviser: FlaskClient, cast: Cast, section: Section
) -> None:
    number = hold(cast, cast.ada)
    assert "You can’t register yet: A talk is due. Talk to your adviser, Vic" in pick(app, section)
    assert "Give clearance" in words(adviser.get(f"/admin/students/{cast.ada.id}").text)
    assert act(adviser, cast.ada, number).status_code == 303
    assert "You can’t register yet" not in pick(app, section)
    assert "CSC 1100-01" in words(adviser.get(f"/admin/students/{cast.ada.id}").text)


def test_taken_back_clearance_refuses_again(
    app: Flask, adviser: FlaskClient, cast: Cast, section: Section
) -> None:
    number = hold(cast, cast.ada)
    act(adviser, cast.ada, number)
    assert "cleared by Vic" in words(adviser.get(f"/admin/students/{cast.ada.id}").text)
    assert act(adviser, cast.ada, number, "take-back").status_code == 303
    assert "You can’t register yet" in pick(app, section)


def test_student_is_notified_each_time(
    app: Flask, adviser: FlaskClient, cast: Cast, section: Section
) -> None:
    number = hold(cast, cast.ada)
    act(adviser, cast.ada, number)
    act(adviser, cast.ada, number, "take-back")
    inbox = words(browser_of(app, "ada").get("/inbox").text)
    assert "You can’t register yet" in inbox
    assert "You can register now" in inbox
    assert "vic@u.example" in inbox
    student_profile._profiles.clear()  # noqa: SLF001
    shown = words(browser_of(app, "ada").get(f"/terms/{section.term_id}").text)
    assert "Talk to your adviser, Vic (vic@u.example). Your adviser" in shown


def test_each_change_is_in_the_audit_trail(adviser: FlaskClient, cast: Cast, vic: Account) -> None:
    number = hold(cast, cast.ada)
    for what, action in (("lift", "hold.lift"), ("take-back", "hold.take_back")):
        act(adviser, cast.ada, number, what)
        [entry] = entries(action)
        assert (entry.account_id, entry.reason) == (vic.id, "We talked.")


def test_form_sent_twice_has_one_effect(
    app: Flask, adviser: FlaskClient, cast: Cast, term: Term
) -> None:
    number = hold(cast, cast.ada)
    with ThreadPoolExecutor(4) as pool:
        browsers = [browser_of(app, "vic") for _ in range(4)]
        answers = list(pool.map(lambda each: act(each, cast.ada, number), browsers))
    assert {each.status_code for each in answers} == {303}
    assert len(entries("hold.lift")) == 1
    for _ in range(2):
        assert act(adviser, cast.ada, number, "take-back").status_code == 303
    assert len(entries("hold.take_back")) == 1
    with transaction() as session:
        told = session.scalars(select(Notification.kind)).all()
    assert told == ["hold"] * 3
    assert term


def test_cleared_student_gets_the_seat_that_came_free(
    app: Flask, admin: FlaskClient, adviser: FlaskClient, cast: Cast, term: Term
) -> None:
    builders.an_open_window(term)
    full = builders.a_section(builders.a_course("CSC-1100"), term, capacity=1)
    seat(cast.ben, full)
    pick(app, full, wait="1")
    number = hold(cast, cast.ada)
    press(browser_of(app, "ben"), full, "drop")
    promote(term.id, "tests")
    act(adviser, cast.ada, number)
    promote(term.id, "tests")
    assert "Enrolled" in words(admin.get(f"/admin/students/{cast.ada.id}").text)


def test_other_holds_and_students_are_refused(adviser: FlaskClient, cast: Cast) -> None:
    of_ada, of_ben = hold(cast, cast.ada, clearance=False), hold(cast, cast.ben)
    refused = act(adviser, cast.ada, of_ada)
    assert refused.status_code == 403
    assert "This hold does not wait for your clearance" in words(refused.text)
    for what in ("lift", "take-back"):
        assert act(adviser, cast.ben, of_ben, what).status_code == 404
    assert not lifted(of_ada)
    assert not lifted(of_ben)
    placed = adviser.post(f"/admin/students/{cast.ada.id}/holds/new", data={"kind": "x"})
    assert placed.status_code == 403
    assert "Your role (Adviser) does not let you place and lift holds." in words(placed.text)


def test_what_the_office_lifted_stays_lifted(
    admin: FlaskClient, adviser: FlaskClient, cast: Cast
) -> None:
    number = hold(cast, cast.ada)
    act(admin, cast.ada, number)
    refused = act(adviser, cast.ada, number, "take-back")
    assert refused.status_code == 409
    assert "the registrar’s office lifted the hold" in words(refused.text)
    assert lifted(number)
    assert act(admin, cast.ada, number, "take-back").status_code == 303
    assert not lifted(number)


@pytest.mark.parametrize("change", [holds.lift, holds.take_back])
def test_adviser_of_another_moment_changes_nothing(cast: Cast, vic: Account, change: Any) -> None:
    """The student got another adviser between the check of the page and the change."""
    number = hold(cast, cast.ada)
    with pytest.raises(holds.HoldRefused):
        change(cast.ada.id, number, by=vic.id, why="late", as_adviser=True)
    assert not lifted(number)


def test_role_that_ends_closes_the_records(
    app: Flask, adviser: FlaskClient, cast: Cast, vic: Account, section: Section
) -> None:
    number = hold(cast, cast.ada)
    staff.change_roles(vic.id, ADVISES, NOTHING, by=cast.max.id, why="left")
    assert adviser.get("/admin/students").location.startswith("/login")
    assert browser_of(app, "vic").get(f"/admin/students/{cast.ada.id}").status_code == 403
    with pytest.raises(holds.HoldRefused):
        holds.lift(cast.ada.id, number, by=vic.id, why="late", as_adviser=True)
    assert "You have no adviser yet. Contact the registrar." in pick(app, section)


def test_profile_follows_the_account_of_the_adviser(
    adviser: FlaskClient, cast: Cast, vic: Account
) -> None:
    """Caches learn from a trigger that the adviser has another name or no role."""
    seen = caches.apply_changes(None)
    assert student_profile.profile(cast.ada.id).adviser == "Vic (vic@u.example)"
    with transaction() as session:
        session.get_one(Account, vic.id).name = "Victoria"
    caches.apply_changes(seen)
    assert student_profile.profile(cast.ada.id).adviser == "Victoria (vic@u.example)"
    assert adviser


def test_student_reads_who_it_is(app: Flask, adviser: FlaskClient) -> None:
    assert "Vic (vic@u.example)" in words(browser_of(app, "ada").get("/account").text)
    assert "None yet. If you need one" in words(browser_of(app, "ben").get("/account").text)
    assert adviser


@pytest.mark.parametrize("name", ["iris", "nobody"])
def test_only_an_adviser_is_assigned(admin: FlaskClient, cast: Cast, name: str) -> None:
    answer = assign(admin, cast.ada, name)
    assert answer.status_code == 422
    assert f"{name} is not an adviser." in answer.text


def test_no_one_is_their_own_adviser(app: Flask, admin: FlaskClient, cast: Cast) -> None:
    with transaction() as session:
        ada = session.get_one(Account, cast.ada.account_id)
        ada.staff_roles = ["adviser"]
    answer = assign(admin, cast.ada, ada.username)
    assert answer.status_code == 422
    assert "No one can be their own adviser." in answer.text
    with transaction() as session:  # as an earlier version could store it
        session.get_one(Student, cast.ada.id).adviser_id = ada.id
    number = hold(cast, cast.ada)
    browser = browser_of(app, "ada")
    assert act(browser, cast.ada, number).status_code == 404
    assert browser.get(f"/admin/students/{cast.ada.id}").status_code == 404
    assert cast.ada.number not in browser.get("/admin/students").text
    with pytest.raises(holds.HoldRefused):
        holds.lift(cast.ada.id, number, by=ada.id, why="mine", as_adviser=True)
    assert not lifted(number)


def test_second_of_two_admins_reads_so(admin: FlaskClient, cast: Cast, vic: Account) -> None:
    for _ in range(2):  # the same form again changes nothing more
        assert assign(admin, cast.ada, "vic").status_code == 303
    late = assign(admin, cast.ada, "")
    assert late.status_code == 409
    assert "Someone else has changed this." in late.text
    address = f"/admin/students/{cast.ada.id}/adviser"
    again = admin.post(address, data={"account": "", "adviser": 0, "reason": ""})
    assert again.status_code == 422
    assert '<input type="hidden" name="adviser" value="0">' in again.text
    assert assign(admin, cast.ada, "", seen=vic.id).status_code == 303
    assert [(each.before, each.after) for each in entries("student.adviser")] == [
        ({"adviser": None}, {"adviser": "vic"}),
        ({"adviser": "vic"}, {"adviser": None}),
    ]


def test_registrar_asks_for_clearance_on_the_page(admin: FlaskClient, cast: Cast) -> None:
    form = {"kind": "Advising", "message": "A talk", "adviser_lifts": "y", "reason": "policy"}
    assert admin.post(f"/admin/students/{cast.ada.id}/holds/new", data=form).status_code == 303
    shown = words(admin.get(f"/admin/students/{cast.ada.id}").text)
    assert "waits for the adviser" in shown
