"""A public value of drand, fetched for the page on which the registrar enters it."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import pytest
from flask import Flask
from sqlalchemy import update

from portal.backend import Backend
from portal.catalog.local_time import local_clock
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.core.moments import moment
from portal.ledger.types import WindowView
from portal.rounds import steps
from portal.waiting_room import draw_codes
from portal.waiting_room.draw_codes import DrawRefused
from portal.windows import drand, rounds
from portal.windows.models import Round
from portal.windows.rounds import RoundRefused
from tests import cast as builders
from tests.cast import Cast
from tests.rounds.builders import a_draft, a_round, an_admin, ended, known, wanted
from tests.waiting_room.rooms import known_in
from tests.web.admin.rounds.test_rounds import a_form
from tests.web.visitors import browser_of

SIGNATURE = "b16b00b5"
VALUE = sha256(bytes.fromhex(SIGNATURE)).hexdigest()
QUICKNET = drand.CHAINS["quicknet"]
FAR = "drand quicknet round 999999999"  # in 2118
RIGHT = {"round": 4711, "randomness": VALUE, "signature": SIGNATURE}
Answers = Callable[[Any], None]


class Chain(BaseHTTPRequestHandler):
    """The chain quicknet of drand; it has one round."""

    answer: ClassVar[Any] = RIGHT

    def do_GET(self) -> None:
        found = self.path == f"/{QUICKNET.hash}/public/{RIGHT['round']}"
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
    address = f"http://127.0.0.1:{server.server_port}/{QUICKNET.hash}"
    monkeypatch.setattr(backend, "settings", replace(backend.settings, drand=address))
    yield lambda answer: monkeypatch.setattr(Chain, "answer", answer)
    server.shutdown()
    server.server_close()


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize(
    "source",
    [
        "drand quicknet round 4711",
        "Quicknet of Drand: round 4711, at noon",
        "drand quicknet ronda 4711",
    ],
)
def test_a_round_is_fetched(source: str) -> None:
    assert drand.fetch(source) == VALUE


@pytest.mark.usefixtures("chain")
@pytest.mark.parametrize(
    "source",
    [
        "The lottery of Saturday",
        "drand quicknet, the next one",
        "drand round 4711",
        "quicknet round 4711",
        "drand default round 4711",  # of another chain
    ],
)
def test_other_sources_are_not_looked_for(source: str) -> None:
    assert drand.fetch(source) is None


@pytest.mark.usefixtures("backend")
def test_nothing_is_fetched_without_the_setting() -> None:
    assert drand.fetch("drand quicknet round 4711") is None


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
    assert drand.fetch("drand quicknet round 4711") == ""


@pytest.mark.usefixtures("chain")
def test_a_round_that_is_not_there_yet_is_not_used() -> None:
    assert drand.fetch("drand quicknet round 4712") == ""


@pytest.mark.parametrize(
    ("source", "when"),
    [
        ("drand quicknet round 1", "2023-08-23T15:09:27"),
        ("drand quicknet round 27946612", "2026-04-20T00:00:00"),
        ("drand default round 6000000", "2026-04-05T23:17:00"),
        ("drand evmnet round 1000", "2024-09-28T11:47:52"),
    ],
)
def test_anyone_can_compute_when_a_round_appears(source: str, when: str) -> None:
    found = drand.find(source)
    assert found
    assert moment(found.appears) == datetime.fromisoformat(when).replace(tzinfo=UTC)
    assert found.chain.first(found.appears) == found.number
    assert found.chain.first(found.appears + 1) == found.number + 1
    assert drand.suits(source, found.appears)
    assert not drand.suits(source, found.appears + 1)


@pytest.mark.parametrize(
    "unclear",
    [
        "drand",
        "DRAND round 999999999",
        "drand quicknet or evmnet round 999999999",
        "drand quicknet round 999999999 or round 999999998",
        "drand quicknet",
        "drand quicknet round 0",
        "drand fastnet round 999999999",
    ],
)
def test_a_round_that_is_not_clear_suits_no_moment(unclear: str) -> None:
    assert not drand.suits(unclear, 0)
    assert drand.suits(FAR, 0)
    assert drand.suits("The lottery of Saturday", 0)


def test_a_round_that_someone_may_know_is_refused_for_a_draw(
    app: Flask, cast: Cast, term: Term
) -> None:
    window = builders.a_coming_window(term, minutes=60)
    at = window.opens - 30 * builders.MINUTE
    first = QUICKNET.first(at // 1000 * 1000)  # a form has seconds
    page = _page(term, window).removesuffix("/value")
    form = {"public_at": local_clock().field(at), "reason": "tests", "version": "0"}
    for source, text in (
        (f"drand quicknet round {first - 999}", f"Name round {first}"),
        ("drand round 999999999", "quicknet, default, evmnet"),
    ):
        answer = browser_of(app, "max").post(page, data=form | {"public_source": source})
        assert answer.status_code == 422
        assert text in answer.text
        with pytest.raises(DrawRefused, match="drand"):
            draw_codes.name_source(term.id, window, 0, source, at, cast.max.id, "tests")
    with pytest.raises(DrawRefused, match="opening"):
        draw_codes.name_source(term.id, window, 0, FAR, at, cast.max.id, "tests")


@pytest.mark.usefixtures("cast")
def test_a_round_that_someone_may_know_is_refused_for_an_allocation_round(app: Flask) -> None:
    term, past = builders.a_term(), "drand quicknet round 4711"
    with pytest.raises(RoundRefused, match="drand"):
        a_draft(term, public_source=past)
    found = a_draft(term, public_source=FAR)
    with pytest.raises(RoundRefused, match="drand"):
        rounds.edit(found.id, found.version, wanted(public_source=past), an_admin(), "tests")
    with transaction() as session:  # a draft from before the rule
        session.execute(update(Round).values(public_source=past))
    with pytest.raises(RoundRefused, match="drand"):
        rounds.announce(found.id, found.version, an_admin(), "tests")
    answer = browser_of(app, "max").post(
        f"/admin/terms/{term.id}/rounds/new", data=a_form(public_source=past)
    )
    assert answer.status_code == 422
    assert "This round of drand appears at" in answer.text


def test_the_value_of_a_draw_is_filled_in(
    chain: Answers, app: Flask, cast: Cast, term: Term, monkeypatch: pytest.MonkeyPatch
) -> None:
    window = builders.a_coming_window(term, minutes=60)
    at = window.opens - 30 * builders.MINUTE
    monkeypatch.setitem(RIGHT, "round", QUICKNET.first(at))
    source = f"drand quicknet round {RIGHT['round']}"
    draw_codes.name_source(term.id, window, 0, source, at, cast.max.id, "tests")
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
def test_the_value_of_a_round_is_filled_in(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    term = builders.a_term()
    monkeypatch.setitem(RIGHT, "round", 999999999)
    found = ended(a_round(term, public_source=FAR))
    steps.work(term.id)
    known(found)
    page = f"/admin/terms/{term.id}/rounds/{found.id}/value"
    assert f'value="{VALUE}"' in browser_of(app, "max").get(page).text


def _page(term: Term, window: WindowView) -> str:
    return f"/admin/terms/{term.id}/windows/{window.id}/room/draw/value"
