"""GET and POST /admin/requests/<id>: a decision acts, once."""

from concurrent.futures import ThreadPoolExecutor
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select

from portal.backend import backend
from portal.catalog.models import Room, Section, Term
from portal.catalog.term_catalog import forget
from portal.core.db import transaction
from portal.instructor_requests import service
from portal.instructor_requests.models import InstructorRequest
from portal.instructor_requests.service import RequestRefused
from portal.people import holds
from portal.people.holds import NewHold
from portal.people.models import Permission
from portal.people.student_profile import profile
from portal.recorder.promotion import promote
from tests.audit_trail import entries
from tests.cast import Cast, a_course, a_section, an_account
from tests.instructor_requests.conftest import audit_actions, kept, seats, the
from tests.notifications.stories import a_letter, notices, set_section
from tests.runtime.cluster.replicated_ledger import until
from tests.statements import waits_for_a_lock
from tests.web.pages import words
from tests.web.student.seat_pools import share
from tests.web.visitors import browser_of

YES = {"decision": "approve", "note": "Fine.", "capacity": "3"}
NO = {"decision": "decline", "note": "No room."}


@pytest.fixture
def override(section: Section, cast: Cast) -> int:
    """Past a prerequisite, for Dan."""
    iris = cast.iris.account_id or 0
    return service.request_override(section.id, cast.dan.id, ["prerequisite"], "Knows it.", iris)


def overrides() -> list[Permission]:
    with transaction() as session:
        return list(session.scalars(select(Permission).order_by(Permission.id)))


def test_it_says_beforehand_what_it_will_mean(admin: FlaskClient, asked: int) -> None:
    page = unescape(admin.get(f"/admin/requests/{asked}").text)
    assert "If you approve the request as it is, the class has 3 seats from now on." in page
    assert "The first 2 students on the waitlist get a seat at once" in page
    assert "So many wait." in page


def test_where_the_shared_seats_are_taken_it_promises_none(
    app: Flask, admin: FlaskClient, asked: int, section: Section
) -> None:
    with transaction() as session:
        term = session.get_one(Term, section.term_id)
    share(1, section, a_section(a_course("MAT-1"), term))
    page = unescape(admin.get(f"/admin/requests/{asked}").text)
    assert "No one on the waitlist gets a seat: all shared seats are taken." in page
    admin.post(f"/admin/requests/{asked}", data=YES)
    output = unescape(browser_of(app, "iris").get("/inbox").text)
    assert "Your request was approved." in output
    assert "No one on the waitlist gets a seat" in output


def test_a_room_that_is_too_small_is_pointed_out(admin: FlaskClient, asked: int) -> None:
    with transaction() as session:
        session.scalars(select(Room)).one().seats = 2
    page = admin.get(f"/admin/requests/{asked}").text
    assert "The room has fewer seats than that." in page
    assert "2 seats" in page


def test_it_says_what_stands_in_the_way_of_the_student_now(
    admin: FlaskClient, override: int, section: Section, cast: Cast
) -> None:
    page = words(admin.get(f"/admin/requests/{override}").text)
    assert "None of the requested rules prevents registration now" in page
    set_section(section, prerequisites={"course": "MAT-1"})
    forget()
    a_bill = NewHold("Bursar", "a bill", "")
    holds.place(cast.dan.id, a_bill, by=cast.max.id, why="Unpaid.")
    page = admin.get(f"/admin/requests/{override}").text
    assert f'href="/admin/students/{cast.dan.id}?term={section.term_id}"' in page
    asked, _even_so, other = page.partition("These rules still prevent registration:")
    assert 'data-reason="prerequisite"' in asked
    assert 'data-reason="hold"' in other


def test_it_says_what_stands_in_the_way_once_the_section_opens_again(
    admin: FlaskClient, override: int, section: Section
) -> None:
    set_section(section, prerequisites={"course": "MAT-1"}, status="CONFIRMED")
    forget()
    asked, _even_so, other = admin.get(f"/admin/requests/{override}").text.partition(
        "These rules still prevent registration:"
    )
    assert 'data-reason="prerequisite"' in asked
    assert 'data-reason="section_confirmed"' in other


def test_approved_seats_go_to_the_waitlist_immediately(
    admin: FlaskClient, asked: int, section: Section, cast: Cast
) -> None:
    answer = admin.post(f"/admin/requests/{asked}", data=YES)
    assert answer.location == "/admin/requests"
    assert (kept(section).capacity, seats(section).capacity) == (3, 3)
    promote(section.term_id, "tests")
    assert (seats(section).taken, seats(section).waiting) == (3, 0)
    request = the(asked)
    assert (request.state, request.decided_by, request.note) == ("approved", cast.max.id, "Fine.")
    assert audit_actions() == ["request.make", "section.capacity", "request.approve"]


def test_fewer_seats_are_approved_and_the_requester_reads_how_many(
    app: Flask, admin: FlaskClient, asked: int, section: Section
) -> None:
    page = words(admin.get(f"/admin/requests/{asked}").text)
    assert "It has 1 now. Enter fewer than 3 to approve in part." in page
    assert admin.post(f"/admin/requests/{asked}", data=YES | {"capacity": "2"}).status_code == 303
    assert (kept(section).capacity, seats(section).capacity) == (2, 2)
    request = the(asked)
    assert (request.state, request.wanted, request.given_seats) == ("approved", 3, 2)
    (entry,) = entries("request.approve")
    assert (entry.after or {})["given"] == 2
    inbox = words(browser_of(app, "iris").get("/inbox").text)
    assert "now has 2 seats" in inbox
    assert "Your request for 3 seats was approved in part." in inbox
    assert "The first student on the waitlist gets a seat" in inbox
    for reader, address in ((admin, "/admin/requests?state=done"), (app, "/teaching/requests")):
        client = reader if isinstance(reader, FlaskClient) else browser_of(reader, "iris")
        assert "In part: 2 seats" in words(client.get(address).text)


def test_a_part_that_came_about_meanwhile_is_no_approval_of_the_rest(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    set_section(section, capacity=2)  # after the page has offered two or three
    answer = admin.post(f"/admin/requests/{asked}", data=YES | {"capacity": "2"})
    assert answer.status_code == 422
    assert (kept(section).capacity, the(asked).state) == (2, "open")


def test_a_section_that_is_offered_again_during_a_decision_is_no_approval(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    set_section(section, status="CANCELED")
    with transaction() as session, ThreadPoolExecutor(1) as pool:
        session.get_one(InstructorRequest, asked, with_for_update=True)
        form = YES | {"capacity": "2"}
        sent = pool.submit(admin.post, f"/admin/requests/{asked}", data=form)
        until(lambda: sent.done() or waits_for_a_lock())
        set_section(section, status="OPEN")
        session.rollback()
        assert sent.result().status_code == 409
    assert (kept(section).capacity, the(asked).state) == (1, "open")


@pytest.mark.parametrize("number", ["", "1", "0", "4", "-2", "two"])
def test_a_number_of_seats_outside_the_request_is_refused(
    admin: FlaskClient, asked: int, section: Section, number: str
) -> None:
    answer = admin.post(f"/admin/requests/{asked}", data=YES | {"capacity": number})
    assert answer.status_code == 422
    assert "Enter a whole number from 2 to 3." in answer.text
    assert (the(asked).state, kept(section).capacity) == ("open", 1)


def test_seats_that_the_section_got_meanwhile_are_not_taken_away(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    set_section(section, capacity=2)
    with pytest.raises(RequestRefused, match="enough"):
        service.approve(asked, 1, "", seats=2)
    with pytest.raises(RequestRefused, match="more"):
        service.approve(asked, 1, "", seats=4)
    assert (the(asked).state, kept(section).capacity) == ("open", 2)
    assert admin.get(f"/admin/requests/{asked}").status_code == 200


def test_some_of_the_rules_are_approved_and_the_requester_reads_which(
    app: Flask, admin: FlaskClient, section: Section, cast: Cast
) -> None:
    iris, wanted = cast.iris.account_id or 0, ["prerequisite", "time_conflict"]
    number = service.request_override(section.id, cast.dan.id, wanted, "Knows it.", iris)
    address = f"/admin/requests/{number}"
    assert "Choose at least one rule." in admin.post(address, data=YES).text
    assert admin.post(address, data=YES | {"waives": "hold"}).status_code == 422
    with pytest.raises(RequestRefused, match="other_rules"):
        service.approve(number, cast.max.id, "", waives=["hold"])
    assert the(number).state == "open"
    assert admin.post(address, data=YES | {"waives": "prerequisite"}).status_code == 303
    (given,) = overrides()
    assert given.waives == ["prerequisite"]
    inbox = words(browser_of(app, "iris").get("/inbox").text)
    assert "was approved in part" in inbox
    assert "These rules no longer apply to the student: Prerequisites." in inbox
    assert "In part: Prerequisites" in words(browser_of(app, "iris").get("/teaching/requests").text)


def test_approval_enqueues_promotion(admin: FlaskClient, asked: int, section: Section) -> None:
    admin.post(f"/admin/requests/{asked}", data=YES)
    (job,) = backend().redis.lrange("rq:queue:promote", 0, -1)
    assert job.decode().startswith(f"{section.term_id}-")


def test_an_approved_override_permits_what_was_named(
    admin: FlaskClient, override: int, section: Section, cast: Cast
) -> None:
    admin.post(f"/admin/requests/{override}", data=YES)
    (given,) = overrides()
    assert (given.student_id, given.section_id) == (cast.dan.id, section.id)
    assert (given.waives, given.granted_by) == (["prerequisite"], cast.max.id)
    assert profile(cast.dan.id).overrides[section.id] == {"prerequisite"}
    assert audit_actions() == ["request.make", "override.grant", "request.approve"]


def test_a_declined_request_changes_nothing(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    admin.post(f"/admin/requests/{asked}", data=NO)
    assert kept(section).capacity == 1
    assert (the(asked).state, the(asked).note) == ("declined", "No room.")


def test_declining_needs_a_note(admin: FlaskClient, asked: int) -> None:
    answer = admin.post(f"/admin/requests/{asked}", data={"decision": "decline", "note": " "})
    assert answer.status_code == 422
    assert "Enter a reason." in answer.text
    assert the(asked).state == "open"


@pytest.mark.parametrize("form", [YES, NO])
def test_a_double_click_decides_once(
    admin: FlaskClient, asked: int, section: Section, form: dict[str, str]
) -> None:
    for _ in range(2):
        assert admin.post(f"/admin/requests/{asked}", data=form).status_code == 303
    assert kept(section).version <= section.version + 1
    assert len([each for each in notices() if each.kind == "request_decided"]) == 1
    assert len([each for each in audit_actions() if each.startswith("request.")]) == 2


def test_of_two_admins_the_first_decides(
    app: Flask, admin: FlaskClient, asked: int, section: Section
) -> None:
    an_account("mia", is_admin=True)
    admin.post(f"/admin/requests/{asked}", data=NO)
    late = browser_of(app, "mia").post(f"/admin/requests/{asked}", data=YES)
    assert late.status_code == 409
    assert "This request is already decided." in late.text
    assert "Declined" in late.text
    assert kept(section).capacity == 1


def test_many_presses_at_the_same_moment_act_once(
    asked: int, override: int, section: Section, cast: Cast
) -> None:
    def press(request: int) -> str:
        try:
            service.approve(request, cast.max.id, "")
        except RequestRefused as refused:
            return refused.code
        return "approved"

    for request in (asked, override):
        with ThreadPoolExecutor(8) as pool:
            said = list(pool.map(press, [request] * 8))
        assert sorted(said) == ["approved", *["decided"] * 7]
    assert kept(section).version == section.version + 1
    assert len(overrides()) == 1


def test_withdrawing_and_approving_at_once_ends_in_one_of_them(
    asked: int, section: Section, cast: Cast
) -> None:
    def press(action: str) -> bool:
        try:
            if action == "withdraw":
                service.withdraw(asked, cast.iris.account_id or 0)
            else:
                service.approve(asked, cast.max.id, "")
        except RequestRefused:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(press, ["withdraw", "approve"]))
    assert sorted(done) == [False, True]
    assert (kept(section).capacity == 3) == (the(asked).state == "approved")


def test_a_canceled_section_gets_no_seats(admin: FlaskClient, asked: int, section: Section) -> None:
    set_section(section, status="CANCELED")
    page = unescape(admin.get(f"/admin/requests/{asked}").text)
    assert "The section is canceled" in page
    assert "You can only decline it." in page
    answer = admin.post(f"/admin/requests/{asked}", data=YES)
    assert answer.status_code == 409
    assert (kept(section).capacity, the(asked).state) == (1, "open")
    assert admin.post(f"/admin/requests/{asked}", data=NO).status_code == 303


def test_a_request_for_existing_seats_is_refused(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    set_section(section, capacity=5)
    assert "already has at least this many seats" in admin.get(f"/admin/requests/{asked}").text
    assert admin.post(f"/admin/requests/{asked}", data=YES).status_code == 409
    assert kept(section).capacity == 5


def test_a_capacity_that_has_moved_is_shown_beside_the_old_one(
    admin: FlaskClient, asked: int, section: Section
) -> None:
    set_section(section, capacity=2)
    page = admin.get(f"/admin/requests/{asked}").text
    assert "(1 at the time of the request)" in page
    admin.post(f"/admin/requests/{asked}", data=YES)
    assert kept(section).capacity == 3


def test_a_request_for_an_existing_permission_is_refused(
    admin: FlaskClient, override: int, section: Section, cast: Cast
) -> None:
    admin.post(f"/admin/requests/{override}", data=YES)
    with pytest.raises(RequestRefused, match="permitted"):
        service.request_override(
            section.id, cast.dan.id, ["prerequisite"], "x", cast.iris.account_id or 0
        )


def test_the_requester_is_notified_with_the_note(
    admin: FlaskClient, asked: int, cast: Cast, app: Flask
) -> None:
    admin.post(f"/admin/requests/{asked}", data=YES)
    (output,) = [each for each in notices() if each.kind == "request_decided"]
    assert output.account_id == cast.iris.account_id
    page = unescape(browser_of(app, "iris").get("/inbox").text)
    assert "CSC 1100-01 now has 3 seats" in page
    assert "Fine." in page
    mail = a_letter()
    assert mail.to == "iris@u.example"
    assert "now has 3 seats" in mail.message["Subject"]


@pytest.mark.parametrize("name", ["iris", "otto", "ada"])
def test_admins_alone_decide(app: Flask, asked: int, name: str) -> None:
    browser = browser_of(app, name)
    for answer in (
        browser.get("/admin/requests"),
        browser.get(f"/admin/requests/{asked}"),
        browser.post(f"/admin/requests/{asked}", data=YES),
    ):
        assert answer.status_code == 403
    assert the(asked).state == "open"


def test_nonsense_is_refused(admin: FlaskClient, asked: int) -> None:
    assert admin.post(f"/admin/requests/{asked}", data={"decision": "eat"}).status_code == 400
    assert admin.get("/admin/requests/2000000000").status_code == 404
