"""While the ledger is away, students read out of PostgreSQL what was last recorded."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal import backend as connections
from portal.backend import Backend
from portal.record.drain import drain
from portal.seats import desk
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of
from tests.web.visits import press


@pytest.fixture
def section(app: Flask, cast: Cast, term: Any) -> Any:  # noqa: ARG001
    """Two seats, one of which Ada has."""
    made = builders.a_section(builders.a_course(), term, capacity=2)
    press(browser_of(app, "ada"), made, "pick")
    drain(term.id)
    return made


@pytest.fixture
def ada(app: Flask, section: Any) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


@pytest.fixture
def away(backend: Backend, section: Any) -> Iterator[None]:  # noqa: ARG001
    """Nobody answers where Redis should be."""
    desk.forget_windows()
    connections.connect(replace(backend.settings, redis_url="redis://127.0.0.1:1/0"))
    yield
    connections._backend = backend  # noqa: SLF001 - as it was


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("page", ["", "/mine"])
def test_seats_and_own_selections_are_those_last_recorded(
    ada: FlaskClient, section: Any, page: str
) -> None:
    answer = ada.get(f"/terms/{section.term_id}{page}")
    assert answer.status_code == 200
    assert "nothing can be selected just now" in answer.text
    assert ": yours</li>" in answer.text
    assert '<td class="num" data-label="Seats open then">1</td>' in answer.text


@pytest.mark.usefixtures("away")
def test_sections_can_still_be_searched(ada: FlaskClient, section: Any) -> None:
    found = ada.get(f"/terms/{section.term_id}?q=nothing-of-the-kind").text
    assert "Seats open then</th>" in found
    assert 'data-label="Seats open then"' not in found


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("page", ["schedule", "history"])
def test_other_pages_are_read_as_ever(ada: FlaskClient, section: Any, page: str) -> None:
    assert ada.get(f"/terms/{section.term_id}/{page}").status_code == 200


@pytest.mark.usefixtures("away")
def test_nothing_is_decided_meanwhile(ada: FlaskClient, section: Any) -> None:
    act = f"/terms/{section.term_id}/sections/{section.id}/drop"
    answer = ada.post(act, data={"request": "0" * 32})
    assert answer.status_code == 503
    assert "nothing was changed" in answer.text


@pytest.mark.usefixtures("away")
def test_a_part_of_a_page_waits_for_the_ledger(ada: FlaskClient, section: Any) -> None:
    headers = {"HX-Request": "true", "HX-Target": "results"}
    assert ada.get(f"/terms/{section.term_id}", headers=headers).status_code == 503
