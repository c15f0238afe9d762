"""GET /api/v1/me."""

from datetime import UTC, datetime, timedelta

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Cast
from tests.people.tokens import a_token
from tests.web.visitors import browser_of

HOUR = timedelta(hours=1)


def ask(client: FlaskClient, token: str) -> TestResponse:
    return client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


def test_me_identifies_the_visitor_by_session(app: Flask, cast: Cast) -> None:
    data = browser_of(app, "ada").get("/api/v1/me").json
    assert data.pop("csrf_token")
    assert data == {
        "id": cast.ada.account_id,
        "name": "Ada",
        "roles": ["student"],
        "student_id": cast.ada.id,
        "teacher_ids": [],
        "scopes": ["read", "register"],
    }


def test_me_identifies_the_visitor_by_token(client: FlaskClient, cast: Cast) -> None:
    data = ask(client, a_token(cast.iris.account_id, "read")).json
    assert data["roles"] == ["instructor"]
    assert (data["scopes"], data["csrf_token"]) == (["read"], None)


def test_me_needs_a_login(client: FlaskClient) -> None:
    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.mimetype == "application/problem+json"


def test_unknown_token_is_refused(client: FlaskClient) -> None:
    assert ask(client, "fs_guessed").status_code == 401
    assert ask(client, "without prefix").status_code == 401


def test_expired_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    ended = a_token(cast.iris.account_id, expires_at=datetime.now(UTC) - HOUR)
    assert ask(client, ended).status_code == 401


def test_token_works_until_it_expires(client: FlaskClient, cast: Cast) -> None:
    good = a_token(cast.iris.account_id, expires_at=datetime.now(UTC) + HOUR)
    assert ask(client, good).status_code == 200


def test_revoked_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    revoked = a_token(cast.iris.account_id, revoked_at=datetime.now(UTC))
    assert ask(client, revoked).status_code == 401


def test_token_opens_no_page(client: FlaskClient, cast: Cast) -> None:
    token = a_token(cast.iris.account_id)
    answer = client.get("/teaching", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 302
