"""Logging in through a provider, from the button to the page that was asked for."""

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
    """Press the button; gives the provider's address that it leads to."""
    return client.get("/login/oidc", query_string={"next": onward}).location


def log_in(client: FlaskClient, login: str = "ada", onward: str = "") -> str:
    """The whole way; gives where it ends, or what the page says."""
    answer = client.get(walk(leave(client, onward), login))
    return answer.location if answer.status_code == 302 else answer.text


def name_of(client: FlaskClient) -> str:
    return client.get("/api/v1/me").json.get("name", "")


def test_whoever_the_provider_knows_by_our_name_is_in(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    assert log_in(client) == "/"
    assert name_of(client) == "Ada"
    assert cast


def test_the_button_says_whom_it_leads_to_and_keeps_the_way_on(portal: Flask) -> None:
    page = portal.test_client().get("/login?next=/inbox").text
    assert "Log in with Campus ID" in page
    assert 'href="/login/oidc?next=/inbox"' in page


def test_it_leads_on_to_the_page_that_was_asked_for(portal: Flask, cast: Cast) -> None:
    assert log_in(portal.test_client(), "iris", "/teaching") == "/teaching"
    assert cast


@pytest.mark.parametrize("elsewhere", ["https://evil.example/", "//evil.example", "/\\evil"])
def test_it_leads_to_no_other_site(portal: Flask, cast: Cast, elsewhere: str) -> None:
    assert log_in(portal.test_client(), "ada", elsewhere) == "/"
    assert cast


def test_the_code_is_bound_to_this_browser_by_state_nonce_and_pkce(portal: Flask) -> None:
    asked = parse_qs(urlsplit(leave(portal.test_client())).query)
    assert asked["response_type"] == ["code"]
    assert asked["code_challenge_method"] == ["S256"]
    assert {"state", "nonce", "code_challenge"} <= set(asked)


def test_nothing_of_the_session_of_before_is_left(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    with client.session_transaction() as session:
        session["planted"] = "by someone else"
    log_in(client)
    with client.session_transaction() as session:
        assert "planted" not in session
        assert not [name for name in session if name.startswith("_state")]
    assert cast


def test_a_login_whose_old_session_ends_all_sessions_is_not_ended_with_them(
    portal: Flask, cast: Cast
) -> None:
    client = portal.test_client()
    log_in(client)
    for number in range(accounts.MAX_ENDED_SESSIONS):
        accounts.end_session(cast.ada.account_id, str(number), time() + 3600)
    log_in(client)
    assert name_of(client) == "Ada"


def test_whoever_has_no_account_here_is_told_so_and_gets_none(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    page = log_in(client, "zoe")
    assert "You have no account here for your Campus ID login." in page
    assert "Your name there is zoe." in page
    assert client.get("/api/v1/me").status_code == 401
    assert cast


def test_a_name_is_never_read_as_html(portal: Flask, cast: Cast) -> None:
    assert "<b>" not in log_in(portal.test_client(), "<b>zoe</b>")
    assert cast


def test_claims_may_come_with_the_id_token(with_provider: With, cast: Cast) -> None:
    with running(discreet=False) as talkative:
        client = with_provider(talkative).test_client()
        assert log_in(client) == "/"
        assert name_of(client) == "Ada"
    assert cast


def test_another_claim_may_have_our_name(
    with_provider: With, provider: Running, cast: Cast
) -> None:
    client = with_provider(provider, "sub").test_client()
    assert log_in(client) == "/"
    assert name_of(client) == "Ada"
    assert cast


def test_an_address_counts_only_when_it_is_verified(with_provider: With, provider: Running) -> None:
    app = with_provider(provider, "email")
    assert "Your name there is ada@u.example." in log_in(app.test_client(), "ada")
    assert "ben@u.example" not in log_in(app.test_client(), "ben")


def test_a_browser_that_begins_often_keeps_a_cookie_that_it_can_hold(portal: Flask) -> None:
    client = portal.test_client()
    for _ in range(8):
        last = leave(client)
    cookie = client.get_cookie("fairseat")
    assert cookie
    assert len(cookie.value) < 3000
    assert client.get(walk(last, "zoe")).status_code == 403


def test_logging_out_offers_to_log_out_there_too(portal: Flask, cast: Cast) -> None:
    client = portal.test_client()
    log_in(client)
    page = client.get(client.post("/logout").location).text
    assert "Also log out of Campus ID" in page
    farewell = urlsplit(client.get("/login/oidc/end").location)
    assert farewell.path == "/session/end"
    assert parse_qs(farewell.query)["post_logout_redirect_uri"] == ["http://localhost/login"]
    assert cast


def test_without_a_provider_there_is_no_such_page(client: FlaskClient) -> None:
    assert "/login/oidc" not in client.get("/login").text
    for address in ("/login/oidc", "/login/oidc/back", "/login/oidc/end"):
        assert client.get(address).status_code == 404


def test_passwords_may_be_switched_off(portal: Flask, cast: Cast) -> None:
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


def test_its_outcome_is_in_the_log(
    portal: Flask, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", request_log.__name__)
    logs.forget()
    log_in(portal.test_client(), "zoe")
    log_in(portal.test_client())
    said = [record.getMessage() for record in caplog.records]
    [failed] = [line for line in said if line.startswith("failed to log in")]
    [done] = [line for line in said if line.startswith("logged in")]
    assert "account unknown" in failed
    assert f"account {cast.ada.account_id}," in done
