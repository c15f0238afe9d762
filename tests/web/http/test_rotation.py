"""A new SECRET_KEY: old signatures count while the old key is a fallback."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from flask import Flask, Response

from portal.app import create_app
from portal.backend import Backend, backend, use
from portal.calendar import feeds
from portal.notifications.webhooks import receivers
from portal.protection import captcha_codes, captcha_puzzle
from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import AccessToken
from portal.web.account import devices
from tests.cast import PASSWORD, Cast
from tests.protection.captcha.solving import solved
from tests.web.pages import hidden

App = Callable[..., Flask]
OLD, NEW = "the key of before", "the key of today"
LEAVE = AccessToken(1, 1, 1, 2**42)


@pytest.fixture(scope="module")
def portal_of(connected: Backend) -> Callable[..., tuple[Flask, Backend]]:
    """A portal with these keys, the newest first, on the same stores; each is made once."""

    @cache
    def make(key: str, *fallbacks: str) -> tuple[Flask, Backend]:
        keys: dict[str, Any] = {"secret_key": key, "secret_key_fallbacks": fallbacks}
        app = create_app(replace(connected.settings, **keys))
        app.config.update(TESTING=True, GATE=False)
        return app, backend()

    return make


@pytest.fixture
def app_of(backend: Backend, portal_of: Callable[..., tuple[Flask, Backend]]) -> App:  # noqa: ARG001
    """The portal with these keys, which from now on is that of this process."""

    def begin(*keys: str) -> Flask:
        app, connected = portal_of(*keys)
        use(connected)
        return app

    return begin


@pytest.fixture(params=[True, False], ids=["as a fallback", "forgotten"])
def kept(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def rotate(app_of: App, kept: bool) -> Callable[[], Flask]:  # noqa: FBT001
    """The portal after its key was changed, with the old one kept as a fallback or not."""
    return lambda: app_of(NEW, *([OLD] if kept else []))


def test_rotation_keeps_sessions_and_open_forms(
    app_of: App,
    rotate: Callable[[], Flask],
    cast: Cast,
    kept: bool,  # noqa: FBT001
) -> None:
    before = app_of(OLD).test_client()
    login = hidden(before.get("/login").text)
    before.post("/login", data={**login, "username": "ada", "password": PASSWORD})
    form = hidden(before.get("/account").text)
    cookie = before.get_cookie("fairseat")
    assert cookie
    after = rotate().test_client()
    after.set_cookie("fairseat", cookie.value)
    assert after.get("/api/v1/me").status_code == (200 if kept else 401)
    posted = after.post("/language", data={**form, "language": "es"})
    assert posted.status_code == (303 if kept else 400)
    assert cast


def test_rotation_keeps_known_devices(
    app_of: App,
    rotate: Callable[[], Flask],
    cast: Cast,
    kept: bool,  # noqa: FBT001
) -> None:
    with app_of(OLD).test_request_context():
        answer = Response()
        devices.remember(answer, "ada", 1)
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    with rotate().test_request_context(headers={"Cookie": cookie}):
        assert bool(devices.known("ada")) == kept
    assert cast


def test_rotation_keeps_access_tokens(
    app_of: App,
    rotate: Callable[[], Flask],
    kept: bool,  # noqa: FBT001
) -> None:
    app_of(OLD)
    written = access_tokens.encode(LEAVE)
    rotate()
    assert access_tokens.decode(written) == (LEAVE if kept else None)


def test_rotation_keeps_captchas_in_progress(
    app_of: App,
    rotate: Callable[[], Flask],
    kept: bool,  # noqa: FBT001
) -> None:
    app_of(OLD)
    payload = solved(captcha_puzzle.make(1, 4000).to_dict()).to_base64()
    rotate()
    if kept:
        assert captcha_puzzle.read(payload, 1)
    else:
        with pytest.raises(captcha_puzzle.NotProven):
            captcha_puzzle.read(payload, 1)


def test_rotation_keeps_mailed_codes(
    app_of: App,
    rotate: Callable[[], Flask],
    kept: bool,  # noqa: FBT001
) -> None:
    app_of(OLD)
    code = captcha_codes.code(1, "seed")
    rotate()
    assert captcha_codes.matches(code, 1, "seed") == kept


def test_rotation_keeps_calendar_addresses(
    app_of: App,
    rotate: Callable[[], Flask],
    cast: Cast,
    kept: bool,  # noqa: FBT001
) -> None:
    app_of(OLD)
    feeds.renew(cast.ada.id)
    feed = feeds.current(cast.ada.id)
    assert feed
    address = f"/calendar/{feeds.secret(feed)}.ics"
    app = rotate()
    assert app.test_client().get(address).status_code == (200 if kept else 404)
    assert app.test_client().get(f"/calendar/{feeds.secret(feed)}.ics").status_code == 200


def test_webhook_receivers_can_verify_with_either_secret(
    app_of: App,
    rotate: Callable[[], Flask],
    kept: bool,  # noqa: FBT001
) -> None:
    app_of(OLD)
    seed = receivers.new_seed()
    old = receivers.signature(seed, "id", 1, b"body")
    rotate()
    new = receivers.signature(seed, "id", 1, b"body").split()
    assert len(new) == (2 if kept else 1)
    assert (old in new) == kept


def test_new_signatures_use_the_new_key(app_of: App, cast: Cast) -> None:
    app_of(NEW, OLD)
    written = access_tokens.encode(LEAVE)
    app_of(NEW)
    assert access_tokens.decode(written) == LEAVE
    assert cast


def test_settings_hide_keys() -> None:
    result = repr(backend().settings)
    for secret_of in (backend().settings.secret_key, backend().settings.database_url):
        assert secret_of not in result
