"""GET /teaching/requests and POST /teaching/requests/<id>/withdraw."""

from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.instructor_requests import service
from tests.cast import Cast
from tests.instructor_requests.conftest import audit_actions, the
from tests.notifications.stories import set_section
from tests.web.instructor.rosters import private
from tests.web.visitors import browser_of


def test_one_sees_ones_own_with_their_state(iris: FlaskClient, asked: int, cast: Cast) -> None:
    page = iris.get("/teaching/requests").text
    assert "3 seats instead of 1" in page
    assert "Open" in page
    service.decline(asked, cast.max.id, "There is no larger room.")
    page = iris.get("/teaching/requests").text
    assert "Declined" in page
    assert "There is no larger room." in page
    assert "Max" in page


def test_an_instructor_sees_only_own_requests(app: Flask, asked: int) -> None:
    assert asked
    assert "No requests yet." in browser_of(app, "otto").get("/teaching/requests").text


def test_a_request_is_withdrawn_once(iris: FlaskClient, asked: int) -> None:
    for said in ("Request withdrawn.", "This request is already decided."):
        answer = iris.post(f"/teaching/requests/{asked}/withdraw", follow_redirects=True)
        assert said in answer.text
    assert the(asked).state == "withdrawn"
    assert audit_actions() == ["request.make", "request.withdraw"]


def test_a_withdrawn_request_can_be_made_again(
    iris: FlaskClient, asked: int, section: Section, cast: Cast
) -> None:
    iris.post(f"/teaching/requests/{asked}/withdraw")
    assert service.request_seats(section.id, 4, "x", cast.iris.account_id or 0) != asked


def test_only_the_requester_withdraws_a_request(app: Flask, asked: int) -> None:
    for name, status in (("otto", 404), ("ada", 403), ("max", 403)):
        answer = browser_of(app, name).post(f"/teaching/requests/{asked}/withdraw")
        assert answer.status_code == status
    assert the(asked).state == "open"


def test_an_obsolete_request_is_marked(iris: FlaskClient, asked: int, section: Section) -> None:
    assert asked
    set_section(section, status="CANCELED")
    assert "The section is canceled" in iris.get("/teaching/requests").text


def test_of_a_private_student_the_number_alone_is_shown(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    service.request_override(
        section.id, cast.ben.id, ["prerequisite"], "x", cast.iris.account_id or 0
    )
    assert "Ben" in iris.get("/teaching/requests").text
    private(cast.ben)
    page = iris.get("/teaching/requests").text
    assert cast.ben.number in page
    assert "Ben" not in page


def test_the_names_of_other_students_are_not_revealed(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    for student in (cast.ada, cast.dan):  # of whom Ada has the seat
        iris_id = cast.iris.account_id or 0
        service.request_override(section.id, student.id, ["prerequisite"], "x", iris_id)
    page = iris.get("/teaching/requests").text
    assert "Ada" in page
    assert cast.dan.number in page
    assert "Dan" not in page


def test_the_list_updates_live(iris: FlaskClient, asked: int) -> None:
    page = iris.get("/teaching/requests").text
    assert 'hx-trigger="fs:notice from:body"' in page
    assert "data-live-term" in page
    assert asked
