"""While the provider is down, logins by password work."""

import socket
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.web.account import oidc as providers
from tests.cast import Cast
from tests.web.account.oidc.conftest import With
from tests.web.account.oidc.provider import Running, running, walk
from tests.web.account.oidc.test_login import leave
from tests.web.visitors import browser_of

AWAY = "We can’t reach Campus ID right now."


@pytest.fixture
def nobody() -> Iterator[socket.socket]:
    """Accept connections and never answer."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.settimeout(0)
        yield silent


def is_away(client: FlaskClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 503
    assert AWAY in answer.text
    assert "Log in with your password instead." in answer.text
    assert answer.headers["Retry-After"]


def test_provider_down_before_the_login_is_reported(with_provider: With, cast: Cast) -> None:
    with running() as gone:
        app = with_provider(gone)
        gone.end()
        is_away(app.test_client(), "/login/oidc")
        assert browser_of(app, "ada")
    assert cast


def test_provider_down_during_the_login_is_reported(with_provider: With, cast: Cast) -> None:
    with running() as going:
        client = with_provider(going).test_client()
        back = walk(leave(client))
        going.end()
        is_away(client, back)
    assert cast


def test_silent_provider_opens_the_breaker(
    app: Flask,
    with_provider: With,
    provider: Running,
    nobody: socket.socket,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(providers, "TIMEOUT", 0.2)
    with_provider(replace(provider, issuer="http://{}:{}".format(*nobody.getsockname())))
    for _ in range(8):
        is_away(app.test_client(), "/login/oidc")
    for _ in range(5):
        nobody.accept()[0].close()
    with pytest.raises(BlockingIOError):  # no further connection
        nobody.accept()
