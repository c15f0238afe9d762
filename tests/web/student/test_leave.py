"""GET and POST /terms/<t>/sections/<s>/leave."""

from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend as parts
from tests import cast as builders
from tests.cast import Cast
from tests.web.pages import DIALOG, address, hidden, press, words
from tests.web.visitors import browser_of


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(), term, capacity=0)


@pytest.fixture
def ada(app: Flask, section: Any) -> FlaskClient:
    client = browser_of(app, "ada")
    press(client, section, "pick", wait="1")
    return client


def test_form_names_the_waitlist_position(ada: FlaskClient, section: Any) -> None:
    assert "You are number 1 of 1" in words(ada.get(address(section, "leave")).text)


def test_leave_works_without_javascript(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    page = ada.get(press(ada, section, "leave").location).text
    assert "You left the waitlist" in words(page)
    assert parts().ledger.registrations(term.id, cast.ada.id).waiting == ()


def test_htmx_response_updates_the_page(ada: FlaskClient, section: Any) -> None:
    form = hidden(ada.get(address(section, "leave"), headers=DIALOG).text)
    answer = ada.post(address(section, "leave"), data=form, headers=DIALOG)
    assert answer.headers["HX-Trigger-After-Settle"] == "fs:close"
    assert f'hx-swap-oob="true" id="act-{section.id}"' in answer.text


def test_leave_needs_no_open_window(ada: FlaskClient, term: Any, section: Any) -> None:
    for window in parts().ledger.windows(term.id):
        parts().ledger.close_window(term.id, window.id, "tests")
    assert press(ada, section, "leave").status_code == 303


def test_leave_without_a_position_is_refused(app: Flask, section: Any, cast: Cast) -> None:
    ben = browser_of(app, "ben")
    assert cast.ben
    assert 'data-reason="not_waiting"' in ben.get(address(section, "leave")).text
    assert ben.post(address(section, "leave")).status_code == 422
