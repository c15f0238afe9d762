"""GET /live/room: what a page that waits is told while it has no socket."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.catalog.models import Term
from portal.ledger.types import WindowView
from portal.waiting_room import room
from tests import cast as builders
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def window(term: Term) -> WindowView:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 0, 1, off=False)
    return window


@pytest.fixture
def ada(app: Flask, cast: Cast) -> FlaskClient:  # noqa: ARG001
    return browser_of(app, "ada")


def address(term: Term, window: WindowView) -> str:
    return f"/live/room?term={term.id}&room={window.id}"


def test_who_waits_learns_how_the_queue_moves_and_when_to_ask_again(
    ada: FlaskClient, cast: Cast, term: Term, window: WindowView
) -> None:
    for student in (900_000, cast.ada.id):
        room.enter(term.id, window.id, student)
    answer = ada.get(address(term, window))
    told = answer.json or {}
    assert told["signal"]["name"] == "room"
    assert told["signal"]["detail"]["called"] == 0
    assert told["poll"] > 0
    assert answer.headers["Cache-Control"] == "no-store"


def test_the_student_whose_turn_it_is_learns_it(
    ada: FlaskClient, cast: Cast, term: Term, window: WindowView
) -> None:
    room.enter(term.id, window.id, cast.ada.id)
    room.set_limits(term.id, window.id, 60, 1, off=False)
    told = ada.get(address(term, window)).json or {}
    assert told["signal"]["name"] == "turn"


def test_before_the_opening_there_is_nothing_to_say(
    ada: FlaskClient, cast: Cast, term: Term
) -> None:
    coming = builders.a_coming_window(term)
    room.enter(term.id, coming.id, cast.ada.id)
    told = ada.get(address(term, coming)).json or {}
    assert told["signal"] is None
    assert told["poll"] > 60


def test_who_has_no_place_is_asked_to_look_and_takes_none(
    ada: FlaskClient, cast: Cast, term: Term, window: WindowView
) -> None:
    told = ada.get(address(term, window)).json or {}
    assert told["signal"]["name"] == "turn"
    assert room.state(term.id, window.id).line == 0
    assert room.queue_entry(term.id, window.id, cast.ada.id).kind == "none"


@pytest.mark.parametrize("query", ["", "?term=1", "?term=x&room=1", "?term=1&room=-1"])
def test_what_makes_no_sense_is_refused(ada: FlaskClient, query: str) -> None:
    assert ada.get(f"/live/room{query}").status_code == 400


def test_only_students_may_ask(app: Flask, cast: Cast, term: Term, window: WindowView) -> None:
    assert cast
    assert browser_of(app, "iris").get(address(term, window)).status_code == 403
    assert app.test_client().get(address(term, window)).status_code in {302, 303, 401}
