"""Two requests with one form: one is decided at a time, and none that was overtaken."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.db import transaction
from portal.plans import pack
from portal.plans.plan import Plan
from portal.seats import flights
from portal.student import wish
from tests import cast as builders
from tests.cast import Cast
from tests.claims import claim
from tests.plans.plans import line
from tests.record.processes import wait_for
from tests.web.visitors import browser_of
from tests.web.visits import address, hidden, seat, words

KEY = "one-key-of-many"
LONG = 60_000


@pytest.fixture
def section(term: Any) -> Any:
    return builders.a_section(builders.a_course(title="Data Structures"), term, capacity=1)


@contextmanager
def stuck(browser: FlaskClient, path: str, **form: str) -> Iterator[Future[TestResponse]]:
    """A form that has taken off, and waits in this block for PostgreSQL to tell of holds."""
    with ThreadPoolExecutor() as pool, transaction() as session:
        session.execute(text("LOCK TABLE holds IN ACCESS EXCLUSIVE MODE"))
        sent = pool.submit(browser.post, path, data={"request": KEY, **form})
        wait_for(_flights)
        yield sent


def _flights() -> list[bytes]:
    found: list[bytes] = backend().redis.keys(f"*:flight:*:{KEY}")
    return found


def overtake(term: Any, student: Any) -> None:
    """Have another request with the form take off, as the first took too long."""
    [flight] = _flights()
    backend().redis.hset(flight, "ends", 0)
    backend().ledger.take_off(term.id, student.id, KEY, "another", LONG)


def had(act: str, cast: Cast, section: Any) -> None:
    """What ada must have, to give it up."""
    if act == "drop":
        seat(cast.ada, section)
    if act == "leave":
        seat(cast.ben, section)
        assert claim(cast.ada, section).outcome == "waitlisted"


@pytest.mark.parametrize("act", ["pick", "drop", "leave"])
def test_a_form_that_was_overtaken_is_not_decided_and_comes_back(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, act: str
) -> None:
    had(act, cast, section)
    known = backend().ledger.standing(term.id, cast.ada.id)
    with stuck(ada, address(section, act)) as late:
        overtake(term, cast.ada)
    told = late.result()
    assert told.status_code == 503
    assert "We don’t know yet whether it went through" in words(told.text)
    assert hidden(told.text)["request"] == KEY
    assert backend().ledger.standing(term.id, cast.ada.id) == known


def test_a_plan_that_was_overtaken_is_not_decided_and_comes_back(
    ada: FlaskClient, term: Any, section: Any, cast: Cast
) -> None:
    plan = pack.write(Plan((line(section.id),)))
    with stuck(ada, f"/terms/{term.id}/plan/submit", plan=plan) as late:
        overtake(term, cast.ada)
    told = late.result()
    assert told.status_code == 503
    assert "We don’t know yet whether it went through" in words(told.text)
    assert not backend().ledger.standing(term.id, cast.ada.id).enrolled


def test_who_sends_a_form_again_waits_for_the_first_and_hears_the_same(
    ada: FlaskClient, app: Flask, section: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flights, "LONGEST", LONG)
    monkeypatch.setattr(wish, "PATIENCE", LONG / 1000)
    tab = browser_of(app, "ada")
    with ThreadPoolExecutor() as pool, stuck(ada, address(section, "pick")) as first:
        second = pool.submit(tab.post, address(section, "pick"), data={"request": KEY})
    for browser, sent in ((ada, first), (tab, second)):
        assert sent.result().status_code == 303
        assert "is yours" in words(browser.get(sent.result().location).text)


def test_who_waits_too_long_gets_the_form_once_more(
    ada: FlaskClient, term: Any, section: Any, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wish, "PATIENCE", 0.0)
    backend().ledger.take_off(term.id, cast.ada.id, KEY, "another", LONG)
    told = ada.post(address(section, "pick"), data={"request": KEY})
    assert told.status_code == 503
    assert hidden(told.text)["request"] == KEY
    assert not backend().ledger.standing(term.id, cast.ada.id).enrolled
