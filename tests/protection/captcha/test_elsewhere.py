"""FAIRSEAT_CAPTCHA as an address: a server elsewhere gives out the puzzles, and may fail."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.core.breakers import FAILURES
from portal.protection import captcha_puzzle, captcha_server
from tests.protection.captcha.elsewhere import Elsewhere, an_elsewhere
from tests.protection.captcha.solving import ask, is_proven, send, solved, work
from tests.recorder.processes import wait_for


@pytest.fixture
def elsewhere(guarded: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[Elsewhere]:  # noqa: ARG001
    """The captcha server that the portal is set to."""
    captcha_server.at.cache_clear()
    # So that a slow machine is no failing server.
    monkeypatch.setattr(captcha_server, "TIMEOUT", 60)
    with an_elsewhere() as server:
        set_to(server.address, monkeypatch)
        yield server


@pytest.fixture(params=["broken", "silent", "odd"])
def failing(
    request: pytest.FixtureRequest, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], None]:
    """Lets the server fail from then on."""

    def fail() -> None:
        elsewhere.mood = request.param
        if request.param == "silent":  # so that no test waits for long
            monkeypatch.setattr(captcha_server, "TIMEOUT", 0.2)

    return fail


def set_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backend(), "settings", replace(backend().settings, captcha=address))


def breaker_of(server: Elsewhere) -> Any:
    return captcha_server.at(server.address).breaker


def is_theirs(challenge: dict[str, Any]) -> bool:
    return "remote" in challenge["parameters"]["data"]


def test_its_puzzles_are_solved_like_ours(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    challenge = ask(ada)
    assert challenge["parameters"]["algorithm"] == "PBKDF2/SHA-512"
    assert send(ada, solved(challenge).to_base64()).status_code == 204
    assert is_proven(ada)
    key = "?apiKey=key_1"
    assert elsewhere.asked == [f"/v1/challenge{key}", f"/v1/verify{key}"]


def test_it_has_the_last_word(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    elsewhere.verdict = False
    assert send(ada, work(ada)).status_code == 422
    assert not is_proven(ada)


def test_what_it_can_not_read_does_not_count(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    payload = work(ada)
    elsewhere._verify = lambda _: (400, b'{"error": "?"}')  # type: ignore[method-assign]  # noqa: SLF001
    assert send(ada, payload).status_code == 422


def test_it_is_not_asked_about_what_we_know_to_be_wrong(
    ada: FlaskClient, ben: FlaskClient, elsewhere: Elsewhere
) -> None:
    wrong = solved(ask(ada))
    wrong.solution.counter += 1
    assert send(ada, wrong.to_base64()).status_code == 422
    assert "another account" in send(ada, work(ben)).text
    assert not any("verify" in path for path in elsewhere.asked)


def test_its_puzzles_count_once_as_well(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    payload = work(ada)
    send(ada, payload)
    assert "was already used" in send(ada, payload).text
    assert len(elsewhere.asked) == 2


def test_where_it_fails_ours_takes_over_at_once(
    ada: FlaskClient, elsewhere: Elsewhere, failing: Callable[[], None]
) -> None:
    failing()
    challenge = ask(ada)
    assert not is_theirs(challenge)
    assert send(ada, solved(challenge).to_base64()).status_code == 204
    wait_for(lambda: len(elsewhere.asked) == 1)  # who was silent may hear of it late


@pytest.mark.usefixtures("elsewhere")
def test_where_no_one_listens_ours_takes_over_and_no_log_has_the_key(
    ada: FlaskClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    set_to("http://127.0.0.1:1/v1?apiKey=key_1", monkeypatch)
    assert send(ada, work(ada)).status_code == 204
    assert "The captcha server failed: ConnectionError" in caplog.text
    assert "key_1" not in caplog.text


def test_a_puzzle_of_it_counts_though_it_fails_by_then(
    ada: FlaskClient, failing: Callable[[], None]
) -> None:
    challenge = ask(ada)
    failing()
    assert is_theirs(challenge)
    assert send(ada, solved(challenge).to_base64()).status_code == 204
    assert is_proven(ada)


def test_and_where_it_is_no_longer_the_setting(
    ada: FlaskClient, elsewhere: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    payload = work(ada)
    set_to("altcha", monkeypatch)
    assert send(ada, payload).status_code == 204
    assert len(elsewhere.asked) == 1


def test_after_five_failures_it_is_not_asked(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    elsewhere.mood = "broken"
    for _ in range(FAILURES + 3):
        assert not is_theirs(ask(ada))
    assert len(elsewhere.asked) == FAILURES
    assert breaker_of(elsewhere).state == "open"
    assert breaker_of(elsewhere).rest == 30


def test_then_one_question_shows_that_it_is_back(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    breaker_of(elsewhere).rest = 0.05
    elsewhere.mood = "broken"
    for _ in range(FAILURES):
        ask(ada)
    elsewhere.mood = "well"
    wait_for(lambda: is_theirs(ask(ada)))
    assert breaker_of(elsewhere).state == "closed"


@pytest.mark.parametrize(
    "odd",
    [
        {"codeChallenge": {"image": "data:image/png;base64,"}},
        {"signature": "x" * 5000},
        {"parameters": {"algorithm": "ARGON2ID"}},
        {"parameters": {"algorithm": ["SHA-256"]}},
        {"parameters": {"cost": 10**9}},
        {"parameters": {"cost": 0}},
        {"parameters": {"cost": 1.5}},
        {"parameters": {"cost": "1"}},
        {"parameters": {"keyLength": 10**9}},
        {"parameters": {"nonce": "odd"}},
        {"parameters": {"salt": None}},
        {"parameters": {"keyPrefix": 7}},
        {"parameters": {"expiresAt": "soon"}},
    ],
)
def test_a_puzzle_that_our_pages_can_not_solve_is_not_passed_on(
    ada: FlaskClient, elsewhere: Elsewhere, odd: dict[str, Any]
) -> None:
    elsewhere.challenge = odd
    assert not is_theirs(ask(ada))


def test_what_expires_earlier_there_does_so_here(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    soon = int(time.time()) + 60
    elsewhere.challenge = {"parameters": {"expiresAt": soon}}
    assert ask(ada)["parameters"]["expiresAt"] == soon
    elsewhere.challenge = {"parameters": {"expiresAt": soon * 2}}
    assert ask(ada)["parameters"]["expiresAt"] <= captcha_puzzle.expiry()


def test_browsers_talk_to_us_only(ada: FlaskClient, elsewhere: Elsewhere) -> None:
    answer = ada.get("/captcha")
    told = answer.text + answer.headers["Content-Security-Policy"] + str(ask(ada))
    assert str(elsewhere.port) not in told
    assert "key_1" not in told
