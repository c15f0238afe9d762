"""GET and POST /teaching/sections/<id>/requests/seats and /override."""

from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Section
from portal.instructor_requests import service
from portal.instructor_requests.service import RequestRefused
from tests.cast import Cast
from tests.instructor_requests.conftest import audit_actions, every
from tests.notifications.stories import notices, outbox, set_section
from tests.web.visitors import browser_of


def address(section: Section, kind: str) -> str:
    return f"/teaching/sections/{section.id}/requests/{kind}"


def test_seats_are_requested_with_a_reason(iris: FlaskClient, section: Section, cast: Cast) -> None:
    assert "It has 1 now." in iris.get(address(section, "seats")).text
    answer = iris.post(address(section, "seats"), data={"wanted": "3", "reason": "So many wait."})
    assert answer.location == "/teaching/requests"
    (made,) = every()
    assert (made.kind, made.capacity, made.wanted, made.state) == ("seats", 1, 3, "open")
    assert (made.account_id, made.reason) == (cast.iris.account_id, "So many wait.")
    assert audit_actions() == ["request.make"]


def test_an_override_is_requested_for_a_student_and_rules(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    form = {
        "student": cast.dan.number,
        "waives": ["prerequisite", "time_conflict"],
        "reason": "Has taken it elsewhere.",
    }
    assert "Prerequisites" in iris.get(address(section, "override")).text
    assert iris.post(address(section, "override"), data=form).status_code == 303
    (made,) = every()
    assert (made.kind, made.student_id) == ("override", cast.dan.id)
    assert made.waives == ["prerequisite", "time_conflict"]


@pytest.mark.parametrize("wanted", ["", "1", "0", "-5", "two", "1e3", "²", "99999999999999"])
def test_an_invalid_number_is_reported(iris: FlaskClient, section: Section, wanted: str) -> None:
    answer = iris.post(address(section, "seats"), data={"wanted": wanted, "reason": "x"})
    assert answer.status_code == 422
    assert "Enter a whole number from 2 to 100,000." in answer.text
    assert every() == []


def test_all_errors_are_shown_at_once_and_the_input_kept(
    iris: FlaskClient, section: Section
) -> None:
    answer = iris.post(address(section, "override"), data={"student": "N-none", "reason": " "})
    assert answer.status_code == 422
    page = unescape(answer.text)
    for wrong in (
        "No student has the number N-none.",
        "Choose at least one rule.",
        "Enter a reason",
    ):
        assert wrong in page
    assert 'value="N-none"' in page
    assert every() == []


def test_a_code_that_is_no_rule_is_not_taken(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    form = {"student": cast.dan.number, "waives": ["full", "hold"], "reason": "x"}
    assert iris.post(address(section, "override"), data=form).status_code == 422


def test_the_same_request_is_refused_twice(iris: FlaskClient, section: Section) -> None:
    form = {"wanted": "3", "reason": "So many wait."}
    iris.post(address(section, "seats"), data=form)
    again = iris.post(address(section, "seats"), data=form | {"wanted": "4"})
    assert again.status_code == 422
    assert "There is already an open request for this" in again.text
    assert len(every()) == 1


def test_a_request_about_a_canceled_section_is_refused(section: Section, cast: Cast) -> None:
    set_section(section, status="CANCELED")
    with pytest.raises(RequestRefused, match="canceled"):
        service.request_seats(section.id, 9, "x", cast.iris.account_id or 0)
    assert every() == []


@pytest.mark.parametrize("kind", ["seats", "override"])
def test_requests_about_sections_of_others_are_refused(
    app: Flask, section: Section, kind: str
) -> None:
    for name in ("otto", "ada", "max"):
        browser = browser_of(app, name)
        assert browser.get(address(section, kind)).status_code == 403
        form = {"wanted": "3", "reason": "x"}
        assert browser.post(address(section, kind), data=form).status_code == 403
    assert every() == []


def test_only_admins_are_notified(asked: int, cast: Cast) -> None:
    assert asked
    made = [each for each in notices() if each.kind == "request_made"]
    assert [each.account_id for each in made] == [cast.max.id]
    assert made[0].data["who"] == "Iris"
    assert [mail.notification_id for mail in outbox()][-1] == made[0].id


def test_the_inbox_leads_to_the_request(app: Flask, asked: int) -> None:
    admin = browser_of(app, "max")
    page = unescape(admin.get("/inbox").text)
    assert "Iris requests 3 seats in CSC 1100-01" in page
    assert "So many wait." in page
    (output,) = [each for each in notices() if each.kind == "request_made"]
    assert admin.get(f"/inbox/{output.id}").location == f"/admin/requests/{asked}"


def test_each_chooses_mails_by_what_they_can_get(app: Flask, cast: Cast) -> None:
    assert cast
    kinds = {
        "ada": "You get a seat from a waitlist",
        "iris": "Your request is decided",
        "max": "An instructor sends a request",
    }
    for name, kind in kinds.items():
        page = browser_of(app, name).get("/inbox/settings").text
        assert [each for each in kinds.values() if each in page] == [kind]


def test_rules_that_the_class_does_not_have_are_pointed_out(
    iris: FlaskClient, section: Section, cast: Cast
) -> None:
    page = iris.get(address(section, "override")).text
    assert page.count("(this class doesn’t have this rule)") == 5
    form = {"student": cast.dan.number, "waives": ["prerequisite", "credit_limit"], "reason": "x"}
    answer = iris.post(address(section, "override"), data=form, follow_redirects=True)
    assert "This class has no such rule: Prerequisites." in answer.text
    assert len(every()) == 1


def test_a_missing_number_is_reported(iris: FlaskClient, section: Section) -> None:
    answer = iris.post(address(section, "override"), data={"student": " ", "reason": "x"})
    assert "Enter the student number." in unescape(answer.text)
