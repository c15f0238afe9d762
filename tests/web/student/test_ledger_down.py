"""While the ledger is down, students' pages show the last recorded state."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.recorder.recorder import drain
from portal.registration.plan_store import change
from portal.registration.plans import Plan, add, add_alternative
from tests import cast as builders
from tests.cast import Cast
from tests.registration.plan_makers import line
from tests.web.ledger_outage import SAID, ledger_away
from tests.web.pages import press, words
from tests.web.visitors import browser_of

REFRESH = '<meta http-equiv="refresh"'
GONE = 999_999_999  # no section


@pytest.fixture
def section(app: Flask, cast: Cast, term: Any) -> Any:  # noqa: ARG001
    """Return a section of two seats; Ada has one."""
    made = builders.a_section(builders.a_course(), term, capacity=2)
    press(browser_of(app, "ada"), made, "pick")
    drain(term.id)
    return made


@pytest.fixture
def ada(app: Flask, section: Any) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def away(backend: Backend, section: Any) -> Iterator[None]:  # noqa: ARG001
    with ledger_away(backend):
        yield


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("page", ["", "/mine", "/plan"])
def test_seats_and_selections_are_the_recorded_ones(
    ada: FlaskClient, section: Any, page: str
) -> None:
    answer = ada.get(f"/terms/{section.term_id}{page}")
    assert answer.status_code == 200
    assert answer.text.count(SAID) == 1
    assert ": yours</li>" in answer.text
    assert '<td class="num" data-label="Open seats at that time">1</td>' in answer.text


@pytest.mark.usefixtures("away")
def test_plan_is_shown(ada: FlaskClient, section: Any, cast: Cast) -> None:
    def make(plan: Plan) -> Plan:
        one, other = line(section.id).alternatives[0], line(GONE).alternatives[0]
        return add_alternative(add(plan, one), 0, other)

    page = f"/terms/{section.term_id}/plan"
    assert "Your plan is empty." in ada.get(page).text
    change(section.term_id, cast.ada.id, 0, make)
    assert "My plan CSC 1100-01, Course CSC-1100 Backup No longer offered" in words(
        ada.get(page).text
    )
    assert "Backup" not in ada.get(f"/terms/{section.term_id}").text


@pytest.mark.usefixtures("away")
def test_sections_can_still_be_searched(ada: FlaskClient, section: Any) -> None:
    found = ada.get(f"/terms/{section.term_id}?q=nothing-of-the-kind").text
    assert "Open seats at that time</th>" in found
    assert 'data-label="Open seats at that time"' not in found


@pytest.fixture
def full(app: Flask, cast: Cast, term: Any) -> Any:  # noqa: ARG001
    """Return a section without seats."""
    return builders.a_section(builders.a_course("ART-7"), term, capacity=0)


def test_quick_filters_work_on_recorded_counts_and_keep_the_others(
    full: Any, section: Any, ada: FlaskClient, backend: Backend
) -> None:
    name, other = f"ART 7-{full.number}, ", f"CSC 1100-{section.number}, Course CSC-1100</th>"
    with ledger_away(backend):
        page = ada.get(f"/terms/{section.term_id}?open=1&from=08:00").text
        listed = ada.get(f"/terms/{section.term_id}?open=1").text
        everything = ada.get(f"/terms/{section.term_id}").text
    assert 'name="open" value="1" checked' in page
    assert 'name="fits" value="1">' in page
    assert '<input type="hidden" name="from" value="08:00">' in page
    assert name in everything
    assert name not in listed
    assert other in listed


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("page", ["schedule", "history"])
def test_other_pages_work(ada: FlaskClient, section: Any, page: str) -> None:
    assert ada.get(f"/terms/{section.term_id}/{page}").status_code == 200


@pytest.mark.usefixtures("away")
def test_home_leads_to_the_last_known_open_term(ada: FlaskClient, section: Any) -> None:
    builders.a_term("Fall 2031")
    assert ada.get("/").location == f"/terms/{section.term_id}"
    everything = ada.get("/?all").text
    assert SAID in everything
    assert "Fall 2031" in everything


@pytest.mark.usefixtures("away")
def test_nothing_is_decided_without_the_ledger(ada: FlaskClient, section: Any) -> None:
    act = f"/terms/{section.term_id}/sections/{section.id}/drop"
    answer = ada.post(act, data={"request": "0" * 32})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"]
    assert "Nothing was changed" in answer.text
    assert REFRESH not in answer.text


@pytest.mark.usefixtures("away")
def test_decision_pages_wait_and_retry(ada: FlaskClient, section: Any) -> None:
    answer = ada.get(f"/terms/{section.term_id}/sections/{section.id}/drop")
    assert answer.status_code == 503
    assert REFRESH in answer.text


@pytest.mark.usefixtures("away")
def test_fragment_waits_for_the_ledger(ada: FlaskClient, section: Any) -> None:
    headers = {"HX-Request": "true", "HX-Target": "results"}
    assert ada.get(f"/terms/{section.term_id}", headers=headers).status_code == 503


def test_fragment_updates_the_note_about_recorded_data(
    ada: FlaskClient, backend: Backend, section: Any
) -> None:
    page = f"/terms/{section.term_id}/schedule?mark=another"
    headers = {"HX-Request": "true", "HX-Target": "schedule"}
    note = 'id="recorded" role="status" hx-swap-oob="true"'
    with ledger_away(backend):
        text = ada.get(page, headers=headers).text
    assert note in text
    assert SAID in text
    text = ada.get(page, headers=headers).text
    assert f"{note} hidden></p>" in text
