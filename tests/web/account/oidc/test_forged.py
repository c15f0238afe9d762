"""Forged or repeated callbacks log no one in."""

from urllib.parse import parse_qs, urlencode, urlsplit, urlunsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.cast import Cast
from tests.web.account.oidc.conftest import With
from tests.web.account.oidc.provider import running, walk
from tests.web.account.oidc.test_login import leave

UNTRUE = "You were not logged in with Campus ID."
STATE = "_state_oidc_"


def refused(client: FlaskClient, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 400
    assert UNTRUE in answer.text
    assert client.get("/api/v1/me").status_code == 401


def changed(address: str, **values: str) -> str:
    """Return the address with other values in its query."""
    parts = urlsplit(address)
    query = {name: each[0] for name, each in parse_qs(parts.query).items()}
    return urlunsplit(parts._replace(query=urlencode(query | values)))


def test_callback_values_cannot_start_a_log_line(
    portal: Flask, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    result = "error=x%0aforged&error_description=%1b[2J"
    refused(portal.test_client(), f"/login/oidc/back?{result}")
    assert "not believed" in caplog.text
    assert "\nforged" not in caplog.text
    assert "\x1b" not in caplog.text
    assert cast


def test_changed_state_is_refused(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    refused(client, changed(walk(leave(client)), state="another"))
    assert cast


def test_login_begun_in_another_browser_is_refused(portal: Flask, cast: Cast) -> None:
    mallory, ada = portal.test_client(), portal.test_client()
    refused(ada, walk(leave(mallory), "ben"))
    assert cast


def test_second_callback_of_a_login_is_refused(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    back = walk(leave(client))
    assert client.get(back).status_code == 302
    client.post("/logout")
    refused(client, back)
    assert cast


def test_used_code_is_refused(portal: Flask, cast: Cast) -> None:
    client, thief = portal.test_client(), portal.test_client()
    back = walk(leave(client))
    with client.session_transaction() as session:
        begun = dict(session)
    assert client.get(back).status_code == 302
    with thief.session_transaction() as session:
        session.update(begun)
    refused(thief, back)
    assert cast


@pytest.mark.parametrize("what", ["nonce", "code_verifier"])
def test_wrong_nonce_is_refused(portal: Flask, cast: Cast, what: str) -> None:
    client = portal.test_client()
    back = walk(leave(client))
    with client.session_transaction() as session:
        (name,) = [name for name in session if name.startswith(STATE)]
        stored = session[name]
        session[name] = {**stored, "data": {**stored["data"], what: "x" * 48}}
    refused(client, back)
    assert cast


def test_id_token_with_another_signature_is_refused(with_provider: With, cast: Cast) -> None:
    with running(forged=True) as forger:
        client = with_provider(forger).test_client()
        refused(client, walk(leave(client)))
    assert cast


def test_clock_far_ahead_is_refused(with_provider: With, cast: Cast) -> None:
    with running(skew=600) as early:
        client = with_provider(early).test_client()
        refused(client, walk(leave(client)))
    assert cast


def test_clock_a_minute_ahead_is_accepted(with_provider: With, cast: Cast) -> None:
    with running(skew=60) as early:
        client = with_provider(early).test_client()
        assert client.get(walk(leave(client))).status_code == 302
    assert cast


@pytest.mark.parametrize(
    "query",
    ["", "code=guessed", "error=access_denied", "code=a&state=b", "state=%00", "code=x&code=y"],
)
def test_callback_without_a_login_is_refused(portal: Flask, cast: Cast, query: str) -> None:
    refused(portal.test_client(), f"/login/oidc/back?{query}")
    assert cast
