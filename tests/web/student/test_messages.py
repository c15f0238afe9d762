"""The next page that a student sees shows the decision, whichever page that is."""

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
    """Claim the section with plain forms; return the page that the response leads to."""
    page = f"/terms/{section.term_id}{back}"
    answer = press(client, section, "pick", back=page)
    assert (answer.status_code, answer.location) == (303, page)
    return page


def test_decision_is_shown_if_the_ledger_freezes_before_the_page(
    ada: FlaskClient, backend: Backend, section: Any
) -> None:
    page = decide(ada, section)
    with ledger_frozen(backend):
        text = ada.get(page).text
    assert SAID in text
    assert DECIDED in words(text)
    assert 'href="/receipts/' in text
    assert DECIDED not in words(ada.get(page).text)


def test_decision_is_shown_on_an_error_page(
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
def test_decision_is_shown_once_on_its_page(ada: FlaskClient, section: Any, back: str) -> None:
    page = decide(ada, section, back)
    assert words(ada.get(page).text).count(DECIDED) == 1
    assert DECIDED not in words(ada.get(page).text)


def test_decision_is_shown_in_its_own_tab(ada: FlaskClient, section: Any) -> None:
    page = decide(ada, section)
    for other in ("/inbox", f"{page}/schedule", "/account"):
        assert DECIDED not in words(ada.get(other).text)
    assert DECIDED in words(ada.get(page).text)


def test_fragment_shows_no_message(ada: FlaskClient, section: Any) -> None:
    page = decide(ada, section)
    for part in (f"{page}/stage?shown=", page):
        assert DECIDED not in words(ada.get(part, headers=HTMX).text)
    ada.head(page)
    assert DECIDED in words(ada.get(page).text)


def test_decision_without_its_page_is_shown_on_another(ada: FlaskClient, section: Any) -> None:
    decide(ada, section)
    with ada.session_transaction() as session:
        session[flash_messages.KEPT_AS] = [
            (tone, text, page, at - flash_messages.PAGE_SECONDS - 1)
            for tone, text, page, at in session[flash_messages.KEPT_AS]
        ]
    assert DECIDED in words(ada.get("/inbox").text)


@pytest.mark.usefixtures("section")
def test_fragment_shows_no_message_of_an_admin_action(app: Flask, cast: Cast) -> None:
    boss = browser_of(app, "max")
    page = f"/admin/students/{cast.ada.id}"
    form = {"kind": "Bursar", "message": "Fees are due.", "office": "", "since": "", "until": ""}
    assert boss.post(f"{page}/holds/new", data=form).status_code == 303
    assert "is set." not in boss.get(page, headers=HTMX).text
    assert "Hold placed on Ada." in boss.get(page).text


@pytest.mark.parametrize(("length", "left"), [(10, 5), (600, 2), (2000, 0)])
def test_newest_messages_that_fit_the_cookie_are_kept(app: Flask, length: int, left: int) -> None:
    with app.test_request_context("/terms"):
        for number in range(9):
            flash_messages.keep(str(number) * length, "go", "/terms")
        stored = [each.text[0] for each in flash_messages.take()]
    assert stored == [str(number) for number in range(9)][9 - left :]
