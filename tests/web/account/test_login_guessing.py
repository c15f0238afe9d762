"""Password guessing is slowed down, and the owner can still log in."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import count
from threading import Barrier, Semaphore
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.app import create_app
from portal.core import redis_clients
from portal.people import passwords
from portal.protection import rate_limits
from portal.protection.rate_limits import RateLimiter
from portal.web.account import login_limits
from tests.cast import PASSWORD, Cast
from tests.protection.captcha.solving import SCRIPT, solved

ADDRESSES = count(1)
MANY = 100  # the failures of one name that an hour allows


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """On a busy machine Redis may answer late: then no process counts on its own."""
    monkeypatch.setattr(rate_limits, "TIMEOUT", 30.0)
    rate_limits._rate_limiter.cache_clear()  # noqa: SLF001 - it reads TIMEOUT once
    yield
    rate_limits._rate_limiter.cache_clear()  # noqa: SLF001 - it reads TIMEOUT once


def somewhere() -> str:
    """Return an address that was not used before."""
    number = next(ADDRESSES)
    return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"


def log_in(
    client: FlaskClient, password: str = PASSWORD, address: str = "", username: str = "ada"
) -> TestResponse:
    data = {"username": username, "password": password}
    return client.post("/login", data=data, environ_base={"REMOTE_ADDR": address or somewhere()})


def guess(app: Flask, times: int, address: str = "", username: str = "ada") -> list[int]:
    """Guess from one address, or each time from another; return the status codes."""
    return [
        log_in(app.test_client(), "a guess", address, username).status_code for _ in range(times)
    ]


def prove(client: FlaskClient) -> None:
    """Solve the captcha as the script of the login page does."""
    payload = solved(client.get("/login/challenge").json).to_base64()
    answer = client.post("/login/challenge", data={"payload": payload}, headers=SCRIPT)
    assert answer.status_code == 204


def attack(app: Flask, times: int = MANY) -> None:
    """Use up the failures of Ada's name, each from another address, without hashing."""
    for _ in range(times):
        with app.test_request_context("/login", environ_base={"REMOTE_ADDR": somewhere()}):
            login_limits.of("ada", everywhere=True).charge_anyway()


@pytest.fixture
def attacked(guarded: Flask, cast: Cast) -> Flask:  # noqa: ARG001
    """Guess Ada's password from many addresses."""
    attack(guarded)
    return guarded


def test_guessing_from_many_addresses_is_stopped(guarded: Flask, cast: Cast) -> None:
    attack(guarded, MANY - 3)
    assert guess(guarded, 6) == [422] * 3 + [429] * 3
    assert cast


def test_owner_can_log_in_with_a_captcha(attacked: Flask) -> None:
    ada, home = attacked.test_client(), somewhere()
    page = log_in(ada, address=home)
    assert page.status_code == 429
    assert "data-captcha" in page.text
    prove(ada)
    assert log_in(ada, address=home).status_code == 302


def test_known_device_needs_no_captcha(guarded: Flask, cast: Cast) -> None:
    ada = guarded.test_client()
    assert log_in(ada).status_code == 302
    ada.post("/logout")
    attack(guarded)
    assert guess(guarded, 1) == [429]
    assert log_in(ada).status_code == 302
    assert cast


def test_other_accounts_need_no_captcha(attacked: Flask) -> None:
    assert log_in(attacked.test_client(), username="ben").status_code == 302


def test_captcha_is_valid_for_one_attempt(attacked: Flask) -> None:
    thief = attacked.test_client()
    prove(thief)
    assert log_in(thief, "a guess").status_code == 422
    assert log_in(thief, "a guess").status_code == 429


def test_copied_cookie_gives_no_extra_attempt(attacked: Flask) -> None:
    thief = attacked.test_client()
    prove(thief)
    with thief.session_transaction() as session:
        copied = dict(session)
    assert log_in(thief, "a guess").status_code == 422
    with thief.session_transaction() as session:
        session.update(copied)
    assert log_in(thief, "a guess").status_code == 429


def test_unsolved_captcha_is_no_attempt(attacked: Flask) -> None:
    thief = attacked.test_client()
    answer = thief.post("/login/challenge", data={"payload": "nonsense"}, headers=SCRIPT)
    assert answer.status_code == 422
    assert log_in(thief).status_code == 429


def test_failed_attempt_shows_the_next_captcha(attacked: Flask) -> None:
    ada = attacked.test_client()
    prove(ada)
    assert "data-captcha" in log_in(ada, "mistyped").text


def test_guesser_at_the_same_address_locks_no_one_out(guarded: Flask, cast: Cast) -> None:
    campus, ada = somewhere(), guarded.test_client()
    guess(guarded, 10, campus)
    assert log_in(ada, address=campus).status_code == 429
    prove(ada)
    assert log_in(ada, address=campus).status_code == 302
    assert cast


def test_device_is_known_for_one_username(guarded: Flask, cast: Cast) -> None:
    ben = guarded.test_client()
    log_in(ben, username="ben")
    ben.post("/logout")
    attack(guarded)
    assert log_in(ben, "a guess").status_code == 429
    assert cast


def test_known_device_has_no_more_attempts(app: Flask, cast: Cast) -> None:
    stolen = app.test_client()
    log_in(stolen)
    stolen.post("/logout")
    answers = [log_in(stolen, "a guess").status_code for _ in range(11)]
    assert answers == [422] * 10 + [429]
    assert log_in(app.test_client()).status_code == 302
    assert cast


@pytest.mark.parametrize("cookie", ["", "x", "a.b.c", "ada.aaaa.bbbb", "\xff"])
def test_device_cookie_must_be_signed(app: Flask, cast: Cast, cookie: str) -> None:
    thief, campus = app.test_client(), somewhere()
    thief.set_cookie("device", cookie, path="/login")
    guess(app, 10, campus)
    assert log_in(thief, "a guess", campus).status_code == 429
    assert cast


def test_device_cookie_does_not_reveal_its_owner(app: Flask, cast: Cast) -> None:
    answer = log_in(app.test_client())
    (cookie,) = [it for it in answer.headers.getlist("Set-Cookie") if it.startswith("device=")]
    assert "HttpOnly" in cookie
    assert "Path=/login" in cookie
    assert "SameSite=Lax" in cookie
    assert not re.search(r"\bada\b", cookie)
    assert cast


def test_guesser_elsewhere_locks_no_one_out_without_captchas(app: Flask, cast: Cast) -> None:
    assert set(guess(app, MANY + 5)) == {422}
    assert log_in(app.test_client()).status_code == 302
    assert cast


def test_client_address_is_the_one_before_our_proxies(cast: Cast, backend: Any) -> None:
    app = create_app(replace(backend.settings, proxies=1, gate=False))
    app.config.update(TESTING=True, WTF_CSRF_ENABLED=False)
    data = {"username": "ada", "password": "a guess"}
    result = [{"X-Forwarded-For": f"10.8.0.{number}, 10.9.9.9"} for number in range(11)]
    answers = [app.test_client().post("/login", data=data, headers=each) for each in result]
    assert [answer.status_code for answer in answers] == [422] * 10 + [429]
    assert cast


def test_attempts_are_counted_locally_while_redis_is_down(
    app: Flask, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    campus = somewhere()
    nowhere = RateLimiter(redis_clients.commands("redis://127.0.0.1:1"))
    monkeypatch.setattr(login_limits, "rate_limiter", lambda: nowhere)
    assert guess(app, 11, campus) == [422] * 10 + [429]
    assert cast


def test_simultaneous_guesses_are_limited_like_sequential_ones(app: Flask, cast: Cast) -> None:
    home = somewhere()
    with ThreadPoolExecutor(80) as pool:
        begin = Barrier(80)

        def try_one(_: int) -> int:
            client = app.test_client()
            begin.wait()
            return log_in(client, "a guess", home).status_code

        answers = Counter(pool.map(try_one, range(80)))
    assert answers == {422: 10, 429: 70}
    assert cast


def test_successful_login_is_not_charged(app: Flask, cast: Cast) -> None:
    home = somewhere()
    assert {log_in(app.test_client(), address=home).status_code for _ in range(15)} == {302}
    assert guess(app, 11, home) == [422] * 10 + [429]
    assert cast


def test_attempt_refused_for_load_is_not_charged(
    app: Flask, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = somewhere()
    with monkeypatch.context() as crowded:
        crowded.setattr(passwords, "is_module_patched", lambda _: True)
        crowded.setattr(passwords, "_slots", lambda: Semaphore(0))
        answers = {log_in(app.test_client(), address=home).status_code for _ in range(11)}
    assert answers == {503}
    assert guess(app, 11, home) == [422] * 10 + [429]
    assert cast


def test_captcha_attempt_refused_for_load_gives_no_extra_attempt(
    attacked: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    ada = attacked.test_client()
    prove(ada)
    with monkeypatch.context() as crowded:
        crowded.setattr(passwords, "is_module_patched", lambda _: True)
        crowded.setattr(passwords, "_slots", lambda: Semaphore(0))
        assert log_in(ada).status_code == 503
    assert guess(attacked, 1) == [429]


def test_addresses_of_an_ipv6_subscriber_share_a_limit(app: Flask, cast: Cast) -> None:
    answers = [guess(app, 1, f"2001:db8:1:2::{number:x}")[0] for number in range(11)]
    assert answers == [422] * 10 + [429]
    assert guess(app, 1, "2001:db8:1:3::1") == [422]
    assert cast


def test_new_password_forgets_all_other_devices(app: Flask, cast: Cast) -> None:
    here, stolen = app.test_client(), app.test_client()
    log_in(here)
    log_in(stolen)
    form = {"current": PASSWORD, "fresh": "four unrelated words suffice"}
    assert here.post("/account/password", data=form).status_code == 303
    home = somewhere()
    guess(app, 10, home)
    assert log_in(stolen, "a guess", home).status_code == 429
    here.post("/logout")
    assert log_in(here, form["fresh"], home).status_code == 302
    assert cast


def test_logout_everywhere_forgets_all_devices(app: Flask, cast: Cast) -> None:
    here, home = app.test_client(), somewhere()
    log_in(here)
    here.post("/account/sessions/end")
    guess(app, 10, home)
    assert log_in(here, "a guess", home).status_code == 429
    assert cast
