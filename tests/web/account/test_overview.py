"""GET /account and POST /account/sessions/end."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.audit_trail import entries
from tests.cast import Cast
from tests.people.tokens import a_token
from tests.web.visitors import browser_of


def test_overview_shows_the_account(ada: FlaskClient) -> None:
    page = ada.get("/account").text
    assert "<bdi>Ada</bdi>" in page
    assert "<dd>ada</dd>" in page
    assert "Student" in page


@pytest.mark.parametrize(
    ("username", "role"), [("iris", "Instructor"), ("max", "Registrar’s office")]
)
def test_overview_is_for_every_role(app: Flask, cast: Cast, username: str, role: str) -> None:
    assert role in browser_of(app, username).get("/account").text
    assert cast


def test_overview_counts_tokens(ada: FlaskClient, cast: Cast) -> None:
    assert "No access tokens" in ada.get("/account").text
    a_token(cast.ada.account_id)
    assert "With 1 access token" in ada.get("/account").text


def test_every_page_links_to_the_overview(ada: FlaskClient) -> None:
    assert 'href="/account"' in ada.get("/inbox").text


def test_all_sessions_can_be_ended_at_once(app: Flask, ada: FlaskClient, cast: Cast) -> None:
    phone, ben, token = browser_of(app, "ada"), browser_of(app, "ben"), a_token(cast.ada.account_id)
    answer = ada.post("/account/sessions/end")
    assert answer.location == "/login"
    assert "You are logged out everywhere." in ada.get("/login").text
    assert ada.get("/api/v1/me").status_code == phone.get("/api/v1/me").status_code == 401
    assert ben.get("/api/v1/me").status_code == 200
    bearer = {"Authorization": f"Bearer {token}"}
    assert app.test_client().get("/api/v1/me", headers=bearer).status_code == 200
    assert [each.action for each in entries()] == ["sessions.end"]
