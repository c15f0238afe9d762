"""GET and POST /admin/terms/<t>/windows/<w>/move, cancel, extend, close."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.catalog.models import Term
from portal.ledger.types import WindowView
from tests.audit_trail import entries
from tests.cast import Cast, a_coming_window, a_term, an_account, an_ended_window, an_open_window
from tests.web.admin.windows.test_schedule import clocks_go_back
from tests.web.admin.windows.windows import HOUR, WHY, address, field
from tests.web.visitors import browser_of


def now_set(term: Term) -> WindowView:
    (window,) = backend().ledger.windows(term.id)
    return window


def test_preview_shows_affected_students(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    page = admin.get(address(window, term, "cancel")).text
    assert "This affects 4 students." in page
    assert now_set(term).state == "scheduled"


def test_upcoming_window_can_be_moved(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    form = {"opens": field(window.opens + HOUR), "closes": field(window.closes + HOUR), **WHY}
    assert admin.post(address(window, term, "move"), data=form).status_code == 303
    assert now_set(term).opens // 1000 == (window.opens + HOUR) // 1000


def test_upcoming_window_can_be_canceled(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(term)
    assert admin.post(address(window, term, "cancel"), data=WHY).status_code == 303
    assert now_set(term).state == "canceled"


def test_open_window_can_be_extended(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term)
    form = {"closes": field(window.closes + HOUR), **WHY}
    assert admin.post(address(window, term, "extend"), data=form).status_code == 303
    assert now_set(term).closes // 1000 == (window.closes + HOUR) // 1000


def test_ambiguous_end_is_shown_as_it_is(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term)
    form = {"closes": clocks_go_back(), "closes_which": "second", **WHY}
    assert admin.post(address(window, term, "extend"), data=form).status_code == 303
    page = admin.get(address(window, term, "extend"))
    assert page.status_code == 200
    assert f'value="{clocks_go_back()}"' in page.text
    assert 'value="second" checked' in page.text


def test_open_window_can_be_closed_at_once(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term)
    assert admin.post(address(window, term, "close"), data=WHY).status_code == 303
    assert "Ended" in admin.get("/admin").text


def test_change_is_audited_with_before_and_after(
    admin: FlaskClient, term: Term, cast: Cast
) -> None:
    window = a_coming_window(term)
    admin.post(address(window, term, "cancel"), data=WHY)
    (entry,) = entries()
    assert (entry.account_id, entry.action) == (cast.max.id, "window.cancel")
    assert entry.before
    assert entry.after
    assert (entry.before["state"], entry.after["state"]) == ("scheduled", "canceled")
    assert entry.reason == WHY["reason"]


@pytest.mark.parametrize("action", ["move", "cancel"])
def test_open_window_cannot_be_moved_or_canceled(
    admin: FlaskClient, term: Term, action: str
) -> None:
    window = an_open_window(term)
    assert admin.get(address(window, term, action)).status_code == 409
    form = {
        "opens": field(window.opens + 2 * HOUR),
        "closes": field(window.closes + 2 * HOUR),
        **WHY,
    }
    answer = admin.post(address(window, term, action), data=form)
    assert answer.status_code == 422
    assert "The window has already started" in answer.text
    assert now_set(term) == window


@pytest.mark.parametrize("action", ["extend", "close"])
def test_upcoming_window_cannot_be_extended_or_closed(
    admin: FlaskClient, term: Term, action: str
) -> None:
    window = a_coming_window(term)
    form = {"closes": field(window.closes + HOUR), **WHY}
    answer = admin.post(address(window, term, action), data=form)
    assert answer.status_code == 422
    assert "has not started yet" in answer.text
    assert now_set(term) == window


@pytest.mark.parametrize("action", ["move", "cancel", "extend", "close"])
def test_ended_window_cannot_be_changed(admin: FlaskClient, term: Term, action: str) -> None:
    window = an_ended_window(term)
    answer = admin.get(address(window, term, action))
    assert answer.status_code == 409
    assert "The window has ended" in answer.text


def test_refused_change_is_not_audited(admin: FlaskClient, term: Term) -> None:
    admin.post(address(an_open_window(term), term, "cancel"), data=WHY)
    assert entries() == []


@pytest.mark.parametrize("action", ["move", "cancel", "extend", "close"])
def test_form_sent_twice_has_one_effect(
    app: Flask, admin: FlaskClient, term: Term, action: str
) -> None:
    early = action in {"move", "cancel"}
    window = a_coming_window(term) if early else an_open_window(term)
    times = {"opens": field(window.opens + HOUR), "closes": field(window.closes + HOUR)}
    form = {"was": f"{window.opens}-{window.closes}", **times, **WHY}
    for _ in range(2):
        answer = admin.post(address(window, term, action), data=form)
        assert (answer.status_code, answer.location) == (303, "/admin")
    assert len(entries()) == 1
    an_account("mia", is_admin=True)
    other = browser_of(app, "mia").post(address(window, term, action), data=form)
    assert other.status_code == 422, "it was somebody else’s press"


@pytest.mark.parametrize("action", ["move", "cancel", "extend", "close"])
@pytest.mark.parametrize("moved", ["opens", "closes"])
def test_form_of_a_changed_window_is_refused(
    admin: FlaskClient, term: Term, action: str, moved: str
) -> None:
    early = action in {"move", "cancel"}
    window = a_coming_window(term) if early else an_open_window(term)
    was = {"opens": window.opens, "closes": window.closes}
    was[moved] -= HOUR // 2  # when the form was drawn
    times = {"opens": field(window.opens + HOUR), "closes": field(window.closes + HOUR)}
    form = {"was": f"{was['opens']}-{was['closes']}", **times, **WHY}
    answer = admin.post(address(window, term, action), data=form)
    assert answer.status_code == 422
    assert now_set(term) == window


def test_earlier_end_is_no_extension(admin: FlaskClient, term: Term) -> None:
    window = an_open_window(term, minutes=120)
    form = {"closes": field(window.closes - HOUR), **WHY}
    answer = admin.post(address(window, term, "extend"), data=form)
    assert answer.status_code == 422
    assert "later than the current end" in answer.text
    assert form["closes"] in answer.text


def test_dialog_has_only_the_form(admin: FlaskClient, term: Term) -> None:
    requested = {"HX-Request": "true", "HX-Target": "dialog"}
    page = admin.get(address(a_coming_window(term), term, "move"), headers=requested).text
    assert "<html" not in page
    assert 'id="dialog-title"' in page
    assert 'hx-target="#dialog"' in page


def test_dialog_returns_to_the_windows(admin: FlaskClient, term: Term) -> None:
    requested = {"HX-Request": "true", "HX-Target": "dialog"}
    answer = admin.post(address(a_coming_window(term), term, "cancel"), headers=requested, data=WHY)
    assert answer.headers["HX-Redirect"] == "/admin"


def test_window_of_another_term_is_not_found(admin: FlaskClient, term: Term) -> None:
    window = a_coming_window(a_term("Another"))
    assert admin.get(address(window, term, "cancel")).status_code == 404
    assert admin.post(address(window, term, "cancel"), data=WHY).status_code == 404
