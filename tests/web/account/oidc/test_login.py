"""Login through a provider, from the button to the requested page."""

from dataclasses import replace
from time import time
from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.backend import backend
from portal.core import logs
from portal.people import accounts
from portal.web.http import request_log
from tests.cast import PASSWORD, Cast
from tests.web.account.oidc.conftest import With
from tests.web.account.oidc.provider import Running, running, walk


def leave(client: FlaskClient, onward: str = "") -> str:
    """Press the button; return the provider's address."""
    return client.get("/login/oidc", query_string={"next": onward}).location


def log_in(client: FlaskClient, login: str = "ada", onward: str = "") -> str:
    """Log in; return the final address, or the page's text."""
    answer = client.get(walk(leave(client, onward), login))
    return answer.location if answer.status_code == 302 else answer.text


def name_of(client: FlaskClient) -> str:
    return client.get("/api/v1/me").json.get("name", "")


def test_provider_logs_in_a_matching_account(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    assert log_in(client) == "/"
    assert name_of(client) == "Ada"
    assert cast


def test_button_names_the_provider_and_keeps_the_target(portal: Flask) -> None:
    page = portal.test_client().get("/login?next=/inbox").text
    assert "Log in with Campus ID" in page
    assert 'href="/login/oidc?next=/inbox"' in page


def test_login_continues_to_the_requested_page(portal: Flask, cast: Cast) -> None:
    assert log_in(portal.test_client(), "iris", "/teaching") == "/teaching"
    assert cast


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil"])
def test_login_never_leads_to_another_site(portal: Flask, cast: Cast, elsewhere: str) -> None:
    assert log_in(portal.test_client(), "ada", elsewhere) == "/"
    assert cast


def test_code_is_bound_by_state_nonce_and_pkce(portal: Flask) -> None:
    requested = parse_qs(urlsplit(leave(portal.test_client())).query)
    assert requested["response_type"] == ["code"]
    assert requested["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(requested)


def test_login_starts_a_new_session(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    with client.session_transaction() as session:
        session["planted"] = "by someone else"
    log_in(client)
    with client.session_transaction() as session:
        assert "planted" not in session
        assert not [name for name in session if name.startswith("_state")]
    assert cast


def test_new_login_survives_the_end_of_all_old_sessions(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    log_in(client)
    for number in range(accounts.MAX_ENDED_SESSIONS):
        accounts.end_session(cast.ada.account_id, str(number), time() + 3600)
    log_in(client)
    assert name_of(client) == "Ada"


def test_user_without_an_account_is_refused(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    page = log_in(client, "zoe")
    assert "You have no account here for your Campus ID login." in page
    assert "Your name there is zoe." in page
    assert client.get("/api/v1/me").status_code == 401
    assert cast


def test_names_are_escaped(portal: Flask, cast: Cast) -> None:
    assert "<b>" not in log_in(portal.test_client(), "<b>zoe</b>")
    assert cast


def test_claims_may_be_in_the_id_token(with_provider: With, cast: Cast) -> None:
    with running(discreet=False) as talkative:
        client = with_provider(talkative).test_client()
        assert log_in(client) == "/"
        assert name_of(client) == "Ada"
    assert cast


def test_username_claim_can_be_configured(
    with_provider: With, provider: Running, cast: Cast
) -> None:
    client = with_provider(provider, "sub").test_client()
    assert log_in(client) == "/"
    assert name_of(client) == "Ada"
    assert cast


def test_only_a_verified_address_counts(with_provider: With, provider: Running) -> None:
    app = with_provider(provider, "email")
    assert "Your name there is ada@u.example." in log_in(app.test_client(), "ada")
    assert "ben@u.example" not in log_in(app.test_client(), "ben")


def test_repeated_logins_keep_the_cookie_small(portal: Flask) -> None:
    client = portal.test_client()
    for _ in range(8):
        last = leave(client)
    cookie = client.get_cookie("fairseat")
    assert cookie
    assert len(cookie.value) < 3000
    assert client.get(walk(last, "zoe")).status_code == 403


def test_logout_offers_to_log_out_at_the_provider(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    log_in(client)
    page = client.get(client.post("/logout").location).text
    assert "Also log out of Campus ID" in page
    farewell = urlsplit(client.get("/login/oidc/end").location)
    assert farewell.path == "/session/end"
    assert parse_qs(farewell.query)["post_logout_redirect_uri"] == ["http://localhost/login"]
    assert cast


def test_pages_are_missing_without_a_provider(client: FlaskClient) -> None:
    assert "/login/oidc" not in client.get("/login").text
    for address in ("/login/oidc", "/login/oidc/back", "/login/oidc/end"):
        assert client.get(address).status_code == 404


def test_passwords_can_be_switched_off(portal: Flask, cast: Cast) -> None:
    backend().settings = replace(backend().settings, passwords=False)
    client = portal.test_client()
    page = client.get("/login").text
    assert "Log in with Campus ID" in page
    assert 'type="password"' not in page
    form = {"username": "ada", "password": PASSWORD}
    assert client.post("/login", data=form).status_code == 404
    assert client.get(walk(leave(client))).status_code == 302
    assert client.get("/account/password").status_code == 404
    assert cast


def test_outcome_is_logged(portal: Flask, cast: Cast, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", request_log.__name__)
    logs.forget()
    log_in(portal.test_client(), "zoe")
    log_in(portal.test_client())
    messages = [record.getMessage() for record in caplog.records]
    [failed] = [line for line in messages if line.startswith("failed to log in")]
    [done] = [line for line in messages if line.startswith("logged in")]
    assert "account unknown" in failed
    assert f"account {cast.ada.account_id}," in done
