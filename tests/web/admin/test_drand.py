"""A public value of drand, fetched for the page on which the registrar enters it."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from flask import Flask

from portal.backend import Backend
from portal.catalog.models import Term
from portal.ledger.types import WindowView
from portal.rounds import steps
from portal.waiting_room import draw_codes
from portal.windows import drand
from tests import cast as builders
from tests.cast import Cast
from tests.rounds.builders import a_round, ended, known
from tests.waiting_room.rooms import known_in
from tests.web.visitors import browser_of

SIGNATURE = "b16b00b5"
VALUE = sha256(bytes.fromhex(SIGNATURE)).hexdigest()
RIGHT = {"round": 4711, "randomness": VALUE, "signature": SIGNATURE}
Answers = Callable[[Any], None]


class Chain(BaseHTTPRequestHandler):
    """A chain of drand that has one round."""

    answer: ClassVar[Any] = RIGHT

    def do_GET(self) -> None:
        found = self.path == "/chain/public/4711"
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(json.dumps(self.answer).encode())

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def chain(app: Flask, backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:  # noqa: ARG001
    """Let the portal use a chain; return a function that sets what it answers."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Chain)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/chain"
    monkeypatch.setattr(backend, "settings", replace(backend.settings, drand=address))
    yield lambda answer: monkeypatch.setattr(Chain, "answer", answer)
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("source", ["drand round 4711", "Drand (quicknet), round 4711, at noon"])
def test_a_round_is_fetched(source: str) -> None:
    assert drand.fetch(source) == VALUE


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize("source", ["The lottery of Saturday", "drand, the next one", "round 4711"])
def test_other_sources_are_not_looked_for(source: str) -> None:
    assert drand.fetch(source) is None


@pytest.mark.usefixtures("backend")
def test_nothing_is_fetched_without_the_setting() -> None:
    assert drand.fetch("drand round 4711") is None


@pytest.mark.parametrize(
    "wrong",
    [
        RIGHT | {"round": 4712},
        RIGHT | {"randomness": "0" * 64},
        RIGHT | {"randomness": VALUE.upper()},
        RIGHT | {"signature": "x"},
        {"randomness": VALUE},
        ["no", "round"],
        "x" * 20_000,
    ],
)
def test_another_answer_is_not_used(chain: Answers, wrong: Any) -> None:
    chain(wrong)
    assert drand.fetch("drand round 4711") == ""


@pytest.mark.usefixtures("chain")
def test_a_round_that_is_not_there_yet_is_not_used() -> None:
    assert drand.fetch("drand round 4712") == ""


def test_the_value_of_a_draw_is_filled_in(
    chain: Answers, app: Flask, cast: Cast, term: Term
) -> None:
    window = builders.a_coming_window(term, minutes=60)
    at = window.opens - 30 * builders.MINUTE
    draw_codes.name_source(term.id, window, 0, "drand round 4711", at, cast.max.id, "tests")
    known_in(window, 5)
    steps.work(term.id)
    known_in(window, -1)
    admin, page = browser_of(app, "max"), _page(term, window)
    form = admin.get(page).text
    assert f'value="{VALUE}"' in form
    assert "was fetched from drand" in form
    chain([])
    form = admin.get(page).text
    assert VALUE not in form
    assert "could not be fetched from drand" in form
    asked = admin.post(page, data={"value": VALUE, "reason": "As published"})
    assert "Value that will be stored" in asked.text  # a value that was fetched is confirmed too


@pytest.mark.usefixtures("chain", "cast")
def test_the_value_of_a_round_is_filled_in(app: Flask) -> None:
    term = builders.a_term()
    found = ended(a_round(term))
    steps.work(term.id)
    known(found)
    page = f"/admin/terms/{term.id}/rounds/{found.id}/value"
    assert f'value="{VALUE}"' in browser_of(app, "max").get(page).text


def _page(term: Term, window: WindowView) -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room/draw/value"
