"""Access tokens are limited to their scopes."""

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Cast
from tests.people.tokens import a_token
from tests.web.visitors import browser_of


def ask(client: FlaskClient, token: str, method: str = "GET", path: str = "/me") -> TestResponse:
    headers = {"Authorization": f"Bearer {token}"}
    return client.open(f"/api/v1{path}", method=method, headers=headers, json={})


@pytest.mark.parametrize(
    ("has", "asks", "lacks"),
    [
        ("register", ("GET", "/me"), "read"),
        ("register", ("HEAD", "/me"), "read"),
        ("read", ("POST", "/register"), "register"),
        ("read", ("POST", "/register/drop"), "register"),
    ],
)
def test_missing_scope_is_named(
    client: FlaskClient, cast: Cast, has: str, asks: tuple[str, str], lacks: str
) -> None:
    answer = ask(client, a_token(cast.ada.account_id, has), *asks)
    assert answer.status_code == 403
    assert answer.mimetype == "application/problem+json"
    assert f'scope="{lacks}"' in answer.headers["WWW-Authenticate"]
    if asks[0] != "HEAD":
        assert answer.json["scope"] == lacks
        assert lacks in answer.json["detail"]


def test_granted_scope_is_enough(client: FlaskClient, cast: Cast) -> None:
    assert ask(client, a_token(cast.ada.account_id, "read")).status_code == 200
    token = a_token(cast.ada.account_id, "register")
    assert ask(client, token, "POST", "/register").status_code not in {401, 403}


def test_scopes_do_not_extend_the_accounts_permissions(client: FlaskClient, cast: Cast) -> None:
    token = a_token(cast.ben.account_id)
    path = f"/students/{cast.ada.id}/registrations"
    assert ask(client, token, path=path).status_code in {403, 404}


def test_session_does_not_extend_a_token(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    assert ask(client, a_token(cast.ben.account_id, "read")).json["name"] == "Ben"
    reading = a_token(cast.ada.account_id, "read")
    assert ask(client, reading, "POST", "/register").status_code == 403
    assert ask(client, "fs_unknown").status_code == 401
