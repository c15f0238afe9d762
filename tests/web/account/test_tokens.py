"""/account/tokens: list, create and revoke access tokens."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Cast
from tests.people.tokens import a_token, kept
from tests.web.visitors import browser_of

SECRET = re.compile(r'id="secret"[^>]*>(fs_[\w-]+)<')


def make(client: FlaskClient, **fields: object) -> TestResponse:
    choice = {"name": "My script", "scopes": ["read"], "days": "90", **fields}
    return client.post("/account/tokens", data=choice)


def me(client: FlaskClient, secret: str) -> int:
    return client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"}).status_code


def test_created_token_works(app: Flask, ada: FlaskClient) -> None:
    answer = make(ada)
    assert answer.status_code == 201
    (secret,) = SECRET.findall(answer.text)
    assert me(app.test_client(), secret) == 200
    (key,) = kept()
    assert (key.name, key.scopes) == ("My script", ["read"])


def test_secret_is_shown_once_and_not_cached(ada: FlaskClient) -> None:
    answer = make(ada)
    assert answer.headers["Cache-Control"] == "no-store"
    (secret,) = SECRET.findall(answer.text)
    assert secret not in ada.get("/account/tokens").text


def test_form_sent_again_creates_no_second_token(ada: FlaskClient) -> None:
    make(ada)
    answer = make(ada)
    assert answer.status_code == 422
    assert "You already have a token with this name." in answer.text
    assert len(kept()) == 1


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"name": ""}, "Enter a purpose"),
        ({"name": " \0 "}, "Enter a purpose"),
        ({"name": "x" * 81}, "Enter a purpose"),
        ({"scopes": []}, "Choose at least one permission."),
        ({"scopes": ["admin"]}, "Not in the list: admin."),
        ({"days": ""}, "Choose how long the token is valid."),
        ({"days": "99999"}, "Choose how long the token is valid."),
        ({"days": "nine"}, "Choose how long the token is valid."),
    ],
)
def test_errors_are_shown(ada: FlaskClient, wrong: dict[str, object], told: str) -> None:
    answer = make(ada, **wrong)
    assert answer.status_code == 422
    assert told in answer.text
    assert kept() == []


def test_names_are_escaped(ada: FlaskClient) -> None:
    assert "<script>x" not in make(ada, name="<script>x").text


def test_all_errors_are_reported_at_once(ada: FlaskClient) -> None:
    assert make(ada, name="", scopes=[], days="").text.count("field-error") == 3


def test_too_many_tokens_are_refused(ada: FlaskClient, cast: Cast) -> None:
    for number in range(20):
        a_token(cast.ada.account_id, name=f"{number}")
    answer = make(ada)
    assert answer.status_code == 422
    assert "You have reached the limit of 20 tokens." in answer.text


def test_list_shows_scopes_and_last_use(ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id, "read", name="unused")
    a_token(cast.ada.account_id, name="of long ago", used_at=datetime(2030, 1, 2, tzinfo=UTC))
    a_token(cast.ada.account_id, name="ended", expires_at=datetime.now(UTC) - timedelta(days=1))
    page = ada.get("/account/tokens").text
    assert "<code>read</code>" in page
    assert "<code>read register</code>" in page
    assert "never" in page
    assert "Jan 1" in page  # in the institution's zone
    assert "Expired" in page


def test_list_has_no_tokens_of_others(app: Flask, ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id, name="Ada’s own")
    assert "Ada’s own" in ada.get("/account/tokens").text
    assert "Ada’s own" not in browser_of(app, "ben").get("/account/tokens").text


def test_token_is_revoked_after_confirmation(ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id, name="old one")
    (key,) = kept()
    assert "Revoke “old one”?" in ada.get(f"/account/tokens/{key.id}/revoke").text
    assert kept()[0].revoked_at is None
    assert ada.post(f"/account/tokens/{key.id}/revoke").status_code == 303
    assert kept()[0].revoked_at
    page = ada.get("/account/tokens").text
    assert "Token “old one” revoked." in page
    assert f"/account/tokens/{key.id}/revoke" not in page


def test_token_of_another_account_cannot_be_revoked(
    app: Flask, ada: FlaskClient, cast: Cast
) -> None:
    a_token(cast.ada.account_id)
    (key,) = kept()
    ben = browser_of(app, "ben")
    assert ben.get(f"/account/tokens/{key.id}/revoke").status_code == 404
    assert ben.post(f"/account/tokens/{key.id}/revoke").status_code == 404
    assert kept()[0].revoked_at is None
    assert ada


def test_revoked_token_is_not_found(ada: FlaskClient, cast: Cast) -> None:
    a_token(cast.ada.account_id, revoked_at=datetime.now(UTC))
    (key,) = kept()
    assert ada.post(f"/account/tokens/{key.id}/revoke").status_code == 404


def test_token_cannot_create_tokens(app: Flask, cast: Cast) -> None:
    bearer = {"Authorization": f"Bearer {a_token(cast.ada.account_id)}"}
    answer = app.test_client().post("/account/tokens", data={"name": "x"}, headers=bearer)
    assert answer.status_code == 303
    assert len(kept()) == 1
