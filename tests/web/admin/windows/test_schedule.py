"""GET /admin/terms/<t>/windows/new and POST /admin/terms/<t>/windows."""

import re
from datetime import UTC, date, datetime, timedelta
from html import unescape

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Term
from tests.audit_trail import entries
from tests.cast import Cast, a_student, a_term, an_account, an_open_window
from tests.web.admin.windows.scheduling import a_form, confirm, from_now, send, windows
from tests.web.visitors import browser_of

YEAR = datetime.now(UTC).year + 1


def clocks_go_back() -> str:
    """Return an ambiguous time on the first Sunday of November."""
    first = date(YEAR, 11, 1)
    return f"{first + timedelta(days=6 - first.weekday())}T01:30"


def test_form_offers_the_students_years_levels_and_subjects(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    page = admin.get(f"/admin/terms/{term.id}/windows/new").text
    assert 'value="Senior"' in page
    assert 'value="CSC"' in page


def test_window_is_previewed_first(admin: FlaskClient, term: Term) -> None:
    answer = send(admin, term)
    assert answer.status_code == 200
    assert "Schedule this window?" in answer.text
    assert "4 students" in answer.text
    assert windows(term) == []


def test_confirmed_window_is_scheduled(admin: FlaskClient, term: Term) -> None:
    answer = confirm(admin, send(admin, term, name="  Seniors   first "))
    assert answer.location == "/admin"
    (window,) = windows(term)
    assert (window.name, window.state, window.cohort) == ("Seniors first", "scheduled", {})
    local = datetime.fromtimestamp(window.opens / 1000, backend().settings.zone)
    assert f"{local:%H:%M}" == "09:00"


def test_next_page_confirms_the_change(admin: FlaskClient, term: Term) -> None:
    confirm(admin, send(admin, term))
    assert "Scheduled: Seniors first opens" in admin.get("/admin").text


def test_confirmation_sent_twice_schedules_one_window(admin: FlaskClient, term: Term) -> None:
    page = send(admin, term)
    assert {confirm(admin, page).status_code for _ in range(2)} == {303}
    assert len(windows(term)) == 1
    assert len(entries()) == 1


def test_draft_belongs_to_its_term(admin: FlaskClient, term: Term) -> None:
    looked, other = send(admin, term), a_term("Another")
    elsewhere = looked.request.path.replace(f"/terms/{term.id}/", f"/terms/{other.id}/")
    assert admin.get(elsewhere).location.endswith(f"/terms/{other.id}/windows/new")
    assert admin.post(elsewhere).location.endswith(f"/terms/{other.id}/windows/new")
    assert windows(other) == []
    assert confirm(admin, looked).location == "/admin"


def test_cohort_is_stored_as_entered(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", year="Sophomore")
    page = send(admin, term, whom="some", years=["Senior", "Sophomore"])
    assert "2 students" in page.text
    confirm(admin, page)
    assert windows(term)[0].cohort == {"years": ["Sophomore", "Senior"]}


def test_empty_cohort_is_pointed_out(admin: FlaskClient, term: Term) -> None:
    a_student("eli", majors=("CSC",), year="Senior")
    a_student("fay", majors=("MTH",), year="Junior")
    page = send(admin, term, whom="some", years=["Senior"], subjects=["MTH"]).text
    assert "No student matches" in page


def test_draft_can_be_edited_again(admin: FlaskClient, term: Term) -> None:
    looked = send(admin, term)
    answer = admin.get(f"{looked.request.path}?edit=yes")
    assert answer.status_code == 200
    assert 'value="Seniors first"' in answer.text
    assert "Review" in answer.text
    number = re.findall(r'name="draft" value="(\d+)"', answer.text)
    again = send(admin, term, name="Juniors first", draft=number)
    assert again.request.path == looked.request.path
    assert "Juniors first" in again.text


def test_preview_has_its_own_address(admin: FlaskClient, term: Term) -> None:
    for fields in ({}, {"name": ""}):
        answer = admin.post(f"/admin/terms/{term.id}/windows", data=a_form(**fields))
        assert answer.status_code == 303
        assert admin.get(answer.location).status_code == (422 if fields else 200)


def test_past_start_and_times_outside_the_term_are_pointed_out(
    admin: FlaskClient, term: Term
) -> None:
    assert "The start is in the past" in send(admin, term, opens=from_now(-1)).text
    late = {"opens": "2030-12-20T09:00", "closes": "2030-12-21T09:00"}
    assert "after the last day of the term, Dec 20, 2030" in send(admin, term, **late).text
    fine = {"opens": "2030-08-01T09:00", "closes": "2030-08-02T09:00"}
    assert "Check the year" not in send(admin, term, **fine).text


def test_students_with_two_open_windows_are_counted(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    an_open_window(term, minutes=60, cohort={"students": [cast.ada.number]})
    assert "overlapping windows" not in send(admin, term).text
    looked = send(admin, term, opens=from_now(-1))
    assert "1 student will have two overlapping windows" in looked.text


def test_scheduling_is_audited(admin: FlaskClient, term: Term, cast: Cast) -> None:
    confirm(admin, send(admin, term))
    (entry,) = entries()
    assert (entry.account_id, entry.action) == (cast.max.id, "window.schedule")
    assert entry.before is None
    assert entry.after
    assert entry.after["name"] == "Seniors first"


def test_scheduling_enqueues_the_recorder(admin: FlaskClient, term: Term) -> None:
    confirm(admin, send(admin, term))
    assert backend().redis.llen("rq:queue:record") == 1


def test_all_errors_are_shown_at_once_with_the_input(admin: FlaskClient, term: Term) -> None:
    fields = {"name": " ", "opens": "soon", "whom": "some", "students": "nobody"}
    answer = send(admin, term, **fields)
    assert answer.status_code == 422
    page = unescape(answer.text)
    assert "Enter a name" in page
    assert "Begins: enter a date and a time" in page
    assert "No student has the number nobody." in page
    assert "nobody</textarea>" in page
    assert windows(term) == []


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"name": "x" * 121}, "longer than 120"),
        ({"closes": f"{YEAR - 2}-01-01T09:00"}, "The end is in the past."),
        ({"opens": f"{YEAR}-01-02T09:00", "closes": f"{YEAR}-01-01T09:00"}, "after the start"),
        ({"closes": "9999-99-99T09:00"}, "Ends: enter a date and a time"),
        ({"closes": "9999-12-31T23:59"}, "Ends: this is more than five years away."),
        ({"opens": "0001-01-01T00:00"}, "Begins: this is more than five years away."),
        ({"whom": "all of them"}, "Choose who can register."),
        ({"whom": "some"}, "Choose at least one"),
        ({"whom": "some", "years": "Wizard"}, "Not in the list: Wizard."),
        ({"opens": "2099-03-08T02:30"}, "this time does not exist"),
    ],
)
def test_errors_are_shown(
    admin: FlaskClient, term: Term, fields: dict[str, str], error: str
) -> None:
    answer = send(admin, term, **fields)
    assert answer.status_code == 422
    assert error in unescape(answer.text)


def test_ambiguous_time_can_be_chosen(admin: FlaskClient, term: Term) -> None:
    requested = send(admin, term, closes=clocks_go_back())
    assert requested.status_code == 422
    assert "this time comes twice" in requested.text
    assert "The second time, 1:30 am EST" in requested.text
    both = send(admin, term, opens=clocks_go_back(), closes=clocks_go_back())
    for field in ("Begins", "Ends"):
        assert f"{field}: the clocks go back that night" in both.text
    page = send(admin, term, closes=clocks_go_back(), closes_which="second")
    assert "1:30 am EST" in page.text
    confirm(admin, page)
    zone = backend().settings.zone
    assert datetime.fromtimestamp(windows(term)[0].closes / 1000, zone).tzname() == "EST"


def test_missing_or_foreign_draft_starts_again(app: Flask, admin: FlaskClient, term: Term) -> None:
    looked = send(admin, term)
    an_account("mia", is_admin=True)
    for client, path in (
        (browser_of(app, "mia"), looked.request.path),
        (admin, f"/admin/terms/{term.id}/windows/drafts/7"),
    ):
        assert client.get(path).location.endswith("/new")
        assert client.post(path).location.endswith("/new")
    assert windows(term) == []


def test_unknown_term_is_not_found(admin: FlaskClient) -> None:
    assert admin.get("/admin/terms/2000000000/windows/new").status_code == 404
