"""What was decided is said on the next page that the student sees, whichever that is."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.recorder.recorder import drain
from portal.web.http import flash_messages
from tests import cast as builders
from tests.cast import Cast
from tests.web.ledger_outage import SAID, ledger_away, ledger_frozen
from tests.web.pages import HTMX, press, words
from tests.web.visitors import browser_of

DECIDED = "You added CSC 1100-01."


@pytest.fixture
def section(app: Flask, cast: Cast, term: Any) -> Any:  # noqa: ARG001
    made = builders.a_section(builders.a_course(), term)
    drain(term.id)
    return made


def decide(client: FlaskClient, section: Any, back: str = "") -> str:
    """Pick the section with forms alone; gives the page that the answer leads to."""
    page = f"/terms/{section.term_id}{back}"
    answer = press(client, section, "pick", back=page)
    assert (answer.status_code, answer.location) == (303, page)
    return page


def test_a_decision_is_told_though_the_ledger_freezes_before_the_page_is_asked_for(
    ada: FlaskClient, backend: Backend, section: Any
) -> None:
    page = decide(ada, section)
    with ledger_frozen(backend):
        told = ada.get(page).text
    assert SAID in told
    assert DECIDED in words(told)
    assert 'href="/receipts/' in told
    assert DECIDED not in words(ada.get(page).text)


def test_a_decision_is_told_on_the_page_of_an_error(
    ada: FlaskClient, backend: Backend, section: Any
) -> None:
    page = decide(ada, section)
    act = f"{page}/sections/{section.id}/drop"
    with ada.session_transaction() as session:
        session[flash_messages.KEPT_AS] = [
            (tone, text, act, at) for tone, text, _page, at in session[flash_messages.KEPT_AS]
        ]
    with ledger_away(backend):
        answer = ada.get(act)
    assert answer.status_code == 503
    assert DECIDED in words(answer.text)


@pytest.mark.parametrize("back", ["", "/mine", "/plan", "/schedule"])
def test_every_page_that_a_decision_leads_to_tells_it_once(
    ada: FlaskClient, section: Any, back: str
) -> None:
    page = decide(ada, section, back)
    assert words(ada.get(page).text).count(DECIDED) == 1
    assert DECIDED not in words(ada.get(page).text)


def test_another_tab_does_not_take_a_decision_that_belongs_to_this_one(
    ada: FlaskClient, section: Any
) -> None:
    page = decide(ada, section)
    for other in ("/inbox", f"{page}/schedule", "/account"):
        assert DECIDED not in words(ada.get(other).text)
    assert DECIDED in words(ada.get(page).text)


def test_a_part_of_a_page_takes_no_message(ada: FlaskClient, section: Any) -> None:
    page = decide(ada, section)
    for part in (f"{page}/stage?shown=", page):
        assert DECIDED not in words(ada.get(part, headers=HTMX).text)
    ada.head(page)
    assert DECIDED in words(ada.get(page).text)


def test_a_decision_whose_page_never_comes_is_told_on_any_other(
    ada: FlaskClient, section: Any
) -> None:
    decide(ada, section)
    with ada.session_transaction() as session:
        session[flash_messages.KEPT_AS] = [
            (tone, text, page, at - flash_messages.PAGE_SECONDS - 1)
            for tone, text, page, at in session[flash_messages.KEPT_AS]
        ]
    assert DECIDED in words(ada.get("/inbox").text)


@pytest.mark.usefixtures("section")
def test_what_an_admin_did_is_not_taken_by_a_part_of_a_page(app: Flask, cast: Cast) -> None:
    boss = browser_of(app, "max")
    page = f"/admin/students/{cast.ada.id}"
    form = {"kind": "Bursar", "said": "Fees are due.", "office": "", "since": "", "until": ""}
    assert boss.post(f"{page}/holds/new", data=form).status_code == 303
    assert "is set." not in boss.get(page, headers=HTMX).text
    assert "The hold on Ada is set." in boss.get(page).text


@pytest.mark.parametrize(("length", "left"), [(10, 5), (600, 2), (2000, 0)])
def test_the_newest_messages_are_kept_that_fit_into_the_cookie(
    app: Flask, length: int, left: int
) -> None:
    with app.test_request_context("/terms"):
        for number in range(9):
            flash_messages.keep(str(number) * length, "go", "/terms")
        kept = [each.text[0] for each in flash_messages.take()]
    assert kept == [str(number) for number in range(9)][9 - left :]
