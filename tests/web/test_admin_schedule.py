"""GET /admin/terms/<t>/windows/new and POST /admin/terms/<t>/windows."""

import re
from datetime import UTC, date, datetime, timedelta
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Term
from portal.db import transaction
from portal.people.models import AuditEntry
from portal.seats.answers import WindowView
from tests.cast import Cast, a_student, a_term
from tests.web.visitors import browser_of

YEAR = datetime.now(UTC).year + 1


@pytest.fixture
def term(app: Flask, cast: Cast) -> Term:
    """A term without windows."""
    assert app
    assert cast
    return a_term()


@pytest.fixture
def admin(app: Flask, term: Term) -> FlaskClient:
    """Max, logged in."""
    assert term
    return browser_of(app, "max")


def clocks_go_back() -> str:
    """The first Sunday of November, at a time that comes twice."""
    first = date(YEAR, 11, 1)
    return f"{first + timedelta(days=6 - first.weekday())}T01:30"


def from_now(days: int, clock: str = "09:00") -> str:
    zone = backend().settings.zone
    return f"{datetime.now(zone) + timedelta(days=days):%Y-%m-%d}T{clock}"


def a_form(**fields: str | list[str]) -> dict[str, str | list[str]]:
    form = {"name": "Seniors first", "opens": from_now(30), "closes": from_now(31)}
    return {**form, "whom": "everyone", **fields}


def send(admin: FlaskClient, term: Term, **fields: str | list[str]) -> TestResponse:
    return admin.post(f"/admin/terms/{term.id}/windows", data=a_form(**fields))


def confirm(admin: FlaskClient, term: Term, page: str) -> TestResponse:
    hidden = re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', page)
    form: dict[str, list[str]] = {"confirmed": ["yes"]}
    for name, value in hidden:
        form.setdefault(unescape(name), []).append(unescape(value))
    return admin.post(f"/admin/terms/{term.id}/windows", data=form)


def windows(term: Term) -> list[WindowView]:
    return backend().ledger.windows(term.id)


def test_the_form_offers_what_students_are(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    page = admin.get(f"/admin/terms/{term.id}/windows/new").text
    assert 'value="Senior"' in page
    assert 'value="CSC"' in page


def test_a_window_is_shown_before_it_is_scheduled(admin: FlaskClient, term: Term) -> None:
    answer = send(admin, term)
    assert answer.status_code == 200
    assert "Schedule this window?" in answer.text
    assert "4 students" in answer.text
    assert windows(term) == []


def test_a_confirmed_window_is_scheduled(admin: FlaskClient, term: Term) -> None:
    answer = confirm(admin, term, send(admin, term, name="  Seniors   first ").text)
    assert answer.location == "/admin"
    (window,) = windows(term)
    assert (window.name, window.state, window.cohort) == ("Seniors first", "scheduled", {})
    local = datetime.fromtimestamp(window.opens / 1000, backend().settings.zone)
    assert f"{local:%H:%M}" == "09:00"


def test_what_was_done_is_said_on_the_next_page(admin: FlaskClient, term: Term) -> None:
    confirm(admin, term, send(admin, term).text)
    assert "Scheduled: Seniors first begins" in admin.get("/admin").text


def test_a_confirmation_that_is_sent_twice_makes_one_window(admin: FlaskClient, term: Term) -> None:
    page = send(admin, term).text
    assert {confirm(admin, term, page).status_code for _ in range(2)} == {303}
    assert len(windows(term)) == 1


def test_the_cohort_is_kept_from_form_to_window(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", year="Junior")
    page = send(admin, term, whom="some", years=["Senior", "Junior"]).text
    assert "2 students" in page
    confirm(admin, term, page)
    assert windows(term)[0].cohort == {"years": ["Junior", "Senior"]}


def test_a_cohort_of_nobody_is_pointed_out(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", majors=("MTH",), year="Junior")
    page = send(admin, term, whom="some", years=["Senior"], subjects=["MTH"]).text
    assert "No student matches" in page


def test_one_can_go_back_and_change_something(admin: FlaskClient, term: Term) -> None:
    answer = send(admin, term, edit="yes")
    assert answer.status_code == 200
    assert 'value="Seniors first"' in answer.text
    assert "Look it over" in answer.text


def test_it_leaves_an_audit_entry(admin: FlaskClient, term: Term, cast: Cast) -> None:
    confirm(admin, term, send(admin, term).text)
    with transaction() as session:
        entry = session.scalars(select(AuditEntry)).one()
    assert (entry.account_id, entry.action) == (cast.max.id, "window.schedule")
    assert entry.before is None
    assert entry.after
    assert entry.after["name"] == "Seniors first"


def test_the_recorder_is_called(admin: FlaskClient, term: Term) -> None:
    confirm(admin, term, send(admin, term).text)
    assert backend().redis.llen("rq:queue:record") == 1


def test_all_errors_are_shown_at_once_and_the_input_is_kept(admin: FlaskClient, term: Term) -> None:
    fields = {"name": " ", "opens": "soon", "whom": "some", "students": "nobody"}
    answer = send(admin, term, **fields)
    assert answer.status_code == 422
    page = unescape(answer.text)
    assert "Give the window a name" in page
    assert "Begins: give a day and a time" in page
    assert "No student has the number nobody." in page
    assert ">nobody</textarea>" in page
    assert windows(term) == []


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": "x" * 121}, "longer than 120"),
        ({"closes": f"{YEAR - 2}-01-01T09:00"}, "The end is in the past."),
        ({"opens": f"{YEAR}-01-02T09:00", "closes": f"{YEAR}-01-01T09:00"}, "after the beginning"),
        ({"closes": "9999-99-99T09:00"}, "Ends: give a day and a time"),
        ({"closes": "9999-12-31T23:59"}, "Ends: that is more than five years away."),
        ({"opens": "0001-01-01T00:00"}, "Begins: that is more than five years away."),
        ({"whom": "all of them"}, "Choose whom the window is for."),
        ({"whom": "some"}, "Choose at least one"),
        ({"whom": "some", "years": "Wizard"}, "Not among those to choose from: Wizard."),
        ({"opens": "2099-03-08T02:30"}, "this time does not exist"),
    ],
)
def test_what_is_wrong_is_said(
    admin: FlaskClient, term: Term, fields: dict[str, str], error: str
) -> None:
    answer = send(admin, term, **fields)
    assert answer.status_code == 422
    assert error in unescape(answer.text)


def test_a_time_that_comes_twice_is_chosen(admin: FlaskClient, term: Term) -> None:
    asked = send(admin, term, closes=clocks_go_back())
    assert asked.status_code == 422
    assert "this time comes twice" in asked.text
    assert "The second time, 1:30 am EST" in asked.text
    page = send(admin, term, closes=clocks_go_back(), closes_which="second").text
    assert "1:30 am EST" in page
    confirm(admin, term, page)
    zone = backend().settings.zone
    assert datetime.fromtimestamp(windows(term)[0].closes / 1000, zone).tzname() == "EST"


def test_a_forged_confirmation_is_refused(admin: FlaskClient, term: Term) -> None:
    assert send(admin, term, confirmed="yes", ticket="7").status_code == 400
    assert windows(term) == []


def test_there_is_no_form_for_a_term_that_does_not_exist(admin: FlaskClient) -> None:
    assert admin.get("/admin/terms/2000000000/windows/new").status_code == 404


def test_only_admins_schedule(app: Flask, term: Term) -> None:
    for username in ("ada", "iris"):
        assert send(browser_of(app, username), term).status_code == 403
    assert windows(term) == []
