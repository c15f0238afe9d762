"""What is no solution of a puzzle that was given out to the account is refused, and says why."""

import base64
import json
from collections.abc import Callable
from time import time
from typing import Any

import pytest
from altcha import create_challenge
from flask import Flask
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.protection import captcha_puzzle
from portal.protection.captcha import NotProven
from tests.cast import Cast
from tests.protection.captcha.solving import ask, is_proven, send, solved, work

BAD = "The check failed"


def packed(told: Any) -> str:
    return base64.b64encode(json.dumps(told).encode()).decode()


def is_refused(client: FlaskClient, payload: str, why: str = BAD) -> None:
    answer = send(client, payload)
    assert answer.status_code == 422
    assert why in answer.text
    assert not is_proven(client)


def test_a_wrong_number(ada: FlaskClient) -> None:
    payload = solved(ask(ada))
    payload.solution.counter += 1
    payload.solution.derived_key = "00" * 32
    is_refused(ada, payload.to_base64())


def test_a_key_that_only_begins_as_it_must(ada: FlaskClient) -> None:
    payload = solved(ask(ada))
    payload.solution.derived_key = payload.challenge.parameters.key_prefix + "00" * 16
    is_refused(ada, payload.to_base64())


@pytest.mark.parametrize(
    "tamper",
    [
        lambda it: setattr(it, "cost", 1),
        lambda it: setattr(it, "key_prefix", ""),
        lambda it: setattr(it, "key_signature", None),
        lambda it: setattr(it, "expires_at", it.expires_at + 1),
        lambda it: setattr(it, "data", {"account": 0}),
        lambda it: setattr(it, "data", None),
        lambda it: setattr(it, "nonce", "not hex"),
    ],
)
def test_a_puzzle_that_was_changed(ada: FlaskClient, tamper: Callable[[Any], None]) -> None:
    given = ask(ada)
    payload = solved(given)
    tamper(payload.challenge.parameters)
    is_refused(ada, payload.to_base64())


def test_a_puzzle_of_ones_own_making(ada: FlaskClient, cast: Cast) -> None:
    made = create_challenge(
        captcha_puzzle.ALGORITHM, 1, data={"account": cast.ada.account_id}, hmac_secret="guessed"
    )
    is_refused(ada, solved(made.to_dict()).to_base64())


def test_a_puzzle_that_is_not_signed(ada: FlaskClient) -> None:
    payload = solved(ask(ada))
    payload.challenge.signature = None
    is_refused(ada, payload.to_base64())


def test_a_puzzle_of_another_account(ada: FlaskClient, ben: FlaskClient) -> None:
    payload = work(ben)
    is_refused(ada, payload, "belongs to another account")
    assert send(ben, payload).status_code == 204  # who may still use it


def test_a_puzzle_of_half_an_hour_ago(ada: FlaskClient, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as clock:
        clock.setattr(captcha_puzzle, "time", lambda: time() - 30 * 60)
        payload = work(ada)
    is_refused(ada, payload, "has expired")


def test_a_puzzle_lasts_twenty_minutes(ada: FlaskClient) -> None:
    assert ask(ada)["parameters"]["expiresAt"] == pytest.approx(time() + 20 * 60, abs=60)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "garbage",
        "\0",
        "ü" * 10,
        "A" * 200_000,
        packed(None),
        packed([]),
        packed("text"),
        packed({}),
        packed({"challenge": {}, "solution": {}}),
        packed({"challenge": "text", "solution": "text"}),
        packed({"challenge": {"parameters": []}, "solution": []}),
        packed({"challenge": {"parameters": {}}, "solution": {"counter": 0}}),
        base64.b64encode(b"[" * 6000).decode(),
        base64.b64encode(b"\xff\xfe").decode(),
    ],
)
def test_garbage(ada: FlaskClient, payload: str) -> None:
    is_refused(ada, payload)


NUMBERS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ODD = NUMBERS | st.lists(NUMBERS, max_size=2) | st.dictionaries(st.text(max_size=3), NUMBERS)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_any_part_may_be_anything(guarded: Flask, data: st.DataObject) -> None:
    with guarded.app_context():
        told = solved(captcha_puzzle.make(1, cost=0).to_dict()).to_dict()
        told["solution"] = {"derivedKey": told["solution"]["derivedKey"], "counter": 0}
        parts = [told, told["challenge"], told["challenge"]["parameters"], told["solution"]]
        where = data.draw(st.sampled_from(parts))
        part = data.draw(st.sampled_from(sorted(where.keys() - {"counter"})))
        before = where[part]
        where[part] = data.draw(ODD.filter(lambda odd: odd != before))
        with pytest.raises(NotProven):
            captcha_puzzle.read(packed(told), 1)


def test_a_form_without_scripts_gets_it_too(ada: FlaskClient) -> None:
    answer = ada.post("/captcha", data={"payload": "garbage"})
    assert answer.status_code == 422
    assert BAD in answer.text
    assert 'role="alert"' in answer.text
    assert "Send code" in answer.text
