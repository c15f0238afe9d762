"""A session that ends in the middle of something: it is said, and a login leads back to it."""

from html import unescape
from re import search
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests import cast as builders
from tests.cast import PASSWORD, Cast
from tests.web.account.test_session_ends import HOUR, later
from tests.web.pages import DIALOG, HTMX, address, held, hidden, words
from tests.web.student.plans import plan_section
from tests.web.visitors import browser_of

OURS = {"Origin": "http://localhost"}
ENDED = "You were logged out. Nothing was changed."


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, credits_min=1, credits_max=3, waitlist=5)


def end(browser: FlaskClient) -> None:
    """The twelve hours of the session are over."""
    later(browser, since=13 * HOUR)


def forget(browser: FlaskClient) -> None:
    """The session's cookie is gone, as after a login on a shared computer."""
    browser.delete_cookie("fairseat")


def log_in(browser: FlaskClient, onward: str) -> str:
    """Through the form to which a page leads; gives the page that it leads on to."""
    text = browser.get(onward).text
    form = {**hidden(text), "username": "ada", "password": PASSWORD}
    return str(browser.post("/login", data=form).location)


def link(html: str) -> str:
    """Where the page's link to the login leads."""
    found = search(r'href="(/login[^"]*)"', html)
    assert found
    return unescape(found[1])


def selected(html: str) -> list[str]:
    """What is chosen in the form's fields."""
    options = search(r'value="([^"]+)" selected', html)
    return [options[1]] if options else []


@pytest.mark.parametrize("out", [end, forget])
def test_form_reopens_after_the_login(ada: FlaskClient, section: Any, out: Any) -> None:
    here = f"/terms/{section.term_id}?q=csc&open=1"
    out(ada)
    requested = {**DIALOG, "HX-Current-URL": f"http://localhost{here}"}
    answer = ada.get(address(section, "pick"), headers=requested)
    assert answer.status_code == 401
    assert "HX-Redirect" not in answer.headers
    assert "You were logged out" in answer.text
    assert f"Log in to continue adding CSC 1100-{section.number}." in words(answer.text)
    text = words(ada.get(link(answer.text)).text)
    assert ENDED in text
    assert f"Log in to continue adding CSC 1100-{section.number}." in text
    resumed = ada.get(log_in(ada, link(answer.text))).text
    assert f"Add CSC 1100-{section.number}?" in words(resumed)
    assert hidden(resumed)["back"] == here


ACTS = {
    "pick": "Log in to continue adding CSC 1100-01.",
    "drop": "Log in to continue dropping CSC 1100-01.",
    "leave": "Log in to continue leaving the waitlist for CSC 1100-01.",
    "swaps": "Log in to continue your swap: CSC 1100-01.",
    "swap?swap_out=2": "Log in to continue your swap: CSC 1100-01.",
    "plan": "Log in to continue planning CSC 1100-01.",
}


@pytest.mark.parametrize("act", ACTS)
def test_every_form_says_what_the_login_continues(ada: FlaskClient, section: Any, act: str) -> None:
    end(ada)
    result = ACTS[act].replace("01.", f"{section.number}.")
    answer = ada.get(address(section, act), headers=DIALOG)
    assert result in words(answer.text)
    assert result in words(ada.get(ada.get(address(section, act)).location).text)


@pytest.mark.parametrize("headers", [OURS, {**OURS, **DIALOG}], ids=["page", "dialog"])
@pytest.mark.parametrize("out", [end, forget])
def test_late_form_is_restored_after_the_login_and_not_sent(  # noqa: PLR0917
    app: Flask, term: Any, cast: Cast, section: Any, headers: dict[str, str], out: Any
) -> None:
    ada = browser_of(app, "ada")
    form = hidden(ada.get(address(section, "pick")).text)
    sent = {**form, "credits": "2"}  # and the box is left open: no place in line is wished
    app.config["WTF_CSRF_ENABLED"] = out is forget
    try:
        out(ada)
        answer = ada.post(address(section, "pick"), data=sent, headers=headers)
        onward = link(answer.text) if "HX-Target" in headers else answer.location
        assert ENDED in words(ada.get(onward).text)
        assert "continue adding" in ada.get(onward).text
        resumed = ada.get(log_in(ada, onward)).text
    finally:
        app.config["WTF_CSRF_ENABLED"] = False
    assert held(term, cast.ada) == []
    assert selected(resumed) == ["2"]
    assert 'name="wait" value="1" checked' not in resumed
    assert hidden(resumed)["request"] != form["request"]
    ada.post(address(section, "pick"), data={**hidden(resumed), "credits": "2"})
    assert held(term, cast.ada) == [section.id]


def test_linked_section_is_restored_after_the_login(
    ada: FlaskClient, term: Any, cast: Cast
) -> None:
    lecture = builders.a_section(builders.a_course("BIO-1"), term, corequisites={"course": "BIO-2"})
    lab = builders.a_course("BIO-2")
    labs = [builders.a_section(lab, term, corequisites={"course": "BIO-1"}) for _ in range(3)]
    end(ada)
    sent = {"with-1": str(labs[2].id), "wait": "1"}
    onward = ada.post(address(lecture, "pick"), data=sent, headers=OURS).location
    resumed = ada.get(log_in(ada, onward)).text
    assert f'value="{labs[2].id}" checked' in resumed
    assert 'name="wait" value="1" checked' in resumed
    assert held(term, cast.ada) == []


def test_drop_of_several_is_restored_after_the_login(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    others = [builders.a_section(builders.a_course(f"MAT-{at}"), term) for at in range(2)]
    path = address(section, "drop") + "?" + "&".join(f"along={each.id}" for each in others)
    end(ada)
    answer = ada.post(path, data={"back": f"/terms/{term.id}/mine"}, headers=OURS)
    requested = urlsplit(log_in(ada, answer.location))
    assert requested.path == address(section, "drop")
    assert parse_qs(requested.query)["along"] == [str(each.id) for each in others]
    assert parse_qs(requested.query)["back"] == [f"/terms/{term.id}/mine"]


def test_unsubmitted_plan_is_restored_after_the_login(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    plan_section(ada, section)
    form = hidden(ada.get(f"/terms/{term.id}/plan").text)
    end(ada)
    answer = ada.post(f"/terms/{term.id}/plan/submit", data=form, headers=OURS)
    assert "Log in to continue with your plan." in words(ada.get(answer.location).text)
    dialog = ada.post(f"/terms/{term.id}/plan/submit", data=form, headers={**OURS, **DIALOG})
    assert "Log in to continue with your plan." in words(dialog.text)
    assert log_in(ada, link(dialog.text)) == f"/terms/{term.id}/plan"
    assert held(term, cast.ada) == []


def test_place_in_the_plan_is_restored_after_the_login(
    ada: FlaskClient, term: Any, section: Any
) -> None:
    other = builders.a_section(builders.a_course("MAT-1"), term)
    plan_section(ada, section)
    end(ada)
    sent = {"place": "else-0", "version": "1"}
    onward = ada.post(address(other, "plan"), data=sent, headers=OURS).location
    assert '<option value="else-0" selected>' in ada.get(log_in(ada, onward)).text


def test_fragment_stays_and_signals_its_scripts(ada: FlaskClient, term: Any) -> None:
    end(ada)
    answer = ada.get(f"/terms/{term.id}?q=x", headers={**HTMX, "HX-Target": "results"})
    assert answer.status_code == 401
    assert answer.headers["HX-Trigger"] == "fs:logged-out"
    assert answer.headers["HX-Reswap"] == "none"
    assert "HX-Redirect" not in answer.headers


def test_form_can_be_sent_again_after_a_login_in_another_tab(app: Flask, cast: Cast) -> None:
    iris = browser_of(app, "iris")
    end(iris)
    late = iris.post("/account/privacy", data={"private": "yes"}, headers=OURS)
    assert late.status_code == 401
    assert "You are no longer logged in" in late.text
    assert '<input type="hidden" name="private" value="yes">' in late.text
    assert cast.iris


def test_logged_out_visitor_is_not_sent_to_the_queue(
    guarded: Flask, section: Any, cast: Cast
) -> None:
    ada = browser_of(guarded, "ada")
    assert "not your turn" in ada.post(address(section, "pick"), headers=OURS).text
    end(ada)
    answer = ada.post(address(section, "pick"), headers={**OURS, **DIALOG})
    assert "You were logged out" in answer.text
    assert cast.ada


def test_only_known_fields_are_in_the_login_address(guarded: Flask, section: Any) -> None:
    sent = {
        "credits": "2",
        "password": "sesame",
        "code": "123456",
        "csrf_token": "t",
        "filler": "x",
    }
    answer = guarded.test_client().post(address(section, "pick"), data=sent)
    onward = parse_qs(urlsplit(answer.location).query)["next"][0]
    assert parse_qs(urlsplit(onward).query) == {"credits": ["2"], "wait": ["0"]}


@pytest.mark.parametrize("query", ["?edit=1", f"?edit={'1' * 2000}"])
def test_login_returns_without_too_long_choices(guarded: Flask, section: Any, query: str) -> None:
    path = address(section, "pick")
    sent = {"credits": "2", "back": "/%" * 40_000}
    answer = guarded.test_client().post(path + query, data=sent)
    onward = parse_qs(urlsplit(answer.location).query)["next"][0]
    assert onward == path + (query if len(query) < 100 else "")


def test_restricted_section_is_not_named_to_strangers(client: FlaskClient, term: Any) -> None:
    hidden_one = builders.a_section(builders.a_course("HON-1", public=False), term)
    text = words(client.get(client.get(address(hidden_one, "pick")).location).text)
    assert "Log in to continue adding your class." in text
    assert "HON" not in text


def test_first_visit_is_not_a_logout(client: FlaskClient, section: Any) -> None:
    text = words(client.get(client.get(address(section, "pick")).location).text)
    assert ENDED not in text
    assert "Log in to continue adding" in text
