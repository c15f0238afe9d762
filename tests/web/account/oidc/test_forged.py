"""What can't be believed lets nobody in, whoever brings it back."""

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
    """The address with other values in its query."""
    parts = urlsplit(address)
    query = {name: each[0] for name, each in parse_qs(parts.query).items()}
    return urlunsplit(parts._replace(query=urlencode(query | values)))


def test_nothing_that_was_brought_back_begins_a_line_of_the_log(
    portal: Flask, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    told = "error=x%0aforged&error_description=%1b[2J"
    refused(portal.test_client(), f"/login/oidc/back?{told}")
    assert "not believed" in caplog.text
    assert "\nforged" not in caplog.text
    assert "\x1b" not in caplog.text
    assert cast


def test_a_state_that_was_tampered_with(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    refused(client, changed(walk(leave(client)), state="another"))
    assert cast


def test_a_login_that_another_browser_began(portal: Flask, cast: Cast) -> None:
    mallory, ada = portal.test_client(), portal.test_client()
    refused(ada, walk(leave(mallory), "ben"))
    assert cast


def test_a_login_that_is_brought_back_twice(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    back = walk(leave(client))
    assert client.get(back).status_code == 302
    client.post("/logout")
    refused(client, back)
    assert cast


def test_a_code_that_was_used_before(portal: Flask, cast: Cast) -> None:
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
def test_an_answer_to_another_question(portal: Flask, cast: Cast, what: str) -> None:
    client = portal.test_client()
    back = walk(leave(client))
    with client.session_transaction() as session:
        (name,) = [name for name in session if name.startswith(STATE)]
        kept = session[name]
        session[name] = {**kept, "data": {**kept["data"], what: "x" * 48}}
    refused(client, back)
    assert cast


def test_an_id_token_that_another_key_has_signed(with_provider: With, cast: Cast) -> None:
    with running(forged=True) as forger:
        client = with_provider(forger).test_client()
        refused(client, walk(leave(client)))
    assert cast


def test_a_provider_whose_clock_is_far_ahead(with_provider: With, cast: Cast) -> None:
    with running(skew=600) as early:
        client = with_provider(early).test_client()
        refused(client, walk(leave(client)))
    assert cast


def test_a_clock_that_is_a_minute_ahead_is_borne_with(with_provider: With, cast: Cast) -> None:
    with running(skew=60) as early:
        client = with_provider(early).test_client()
        assert client.get(walk(leave(client))).status_code == 302
    assert cast


@pytest.mark.parametrize(
    "query",
    ["", "code=guessed", "error=access_denied", "code=a&state=b", "state=%00", "code=x&code=y"],
)
def test_what_no_provider_has_sent(portal: Flask, cast: Cast, query: str) -> None:
    refused(portal.test_client(), f"/login/oidc/back?{query}")
    assert cast
