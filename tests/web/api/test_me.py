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


def test_it_says_who_is_asking_by_session(app: Flask, cast: Cast) -> None:
    told = browser_of(app, "ada").get("/api/v1/me").json
    assert told.pop("csrf_token")
    assert told == {
        "id": cast.ada.account_id,
        "name": "Ada",
        "roles": ["student"],
        "student_id": cast.ada.id,
        "teacher_ids": [],
        "scopes": ["read", "register"],
    }


def test_it_says_who_is_asking_by_token(client: FlaskClient, cast: Cast) -> None:
    told = ask(client, a_token(cast.iris.account_id, "read")).json
    assert told["roles"] == ["instructor"]
    assert (told["scopes"], told["csrf_token"]) == (["read"], None)


def test_it_needs_a_login(client: FlaskClient) -> None:
    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.mimetype == "application/problem+json"


def test_an_unknown_token_is_refused(client: FlaskClient) -> None:
    assert ask(client, "fs_guessed").status_code == 401
    assert ask(client, "without prefix").status_code == 401


def test_an_expired_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    ended = a_token(cast.iris.account_id, expires_at=datetime.now(UTC) - HOUR)
    assert ask(client, ended).status_code == 401


def test_a_token_that_will_expire_is_good_until_then(client: FlaskClient, cast: Cast) -> None:
    good = a_token(cast.iris.account_id, expires_at=datetime.now(UTC) + HOUR)
    assert ask(client, good).status_code == 200


def test_a_revoked_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    revoked = a_token(cast.iris.account_id, revoked_at=datetime.now(UTC))
    assert ask(client, revoked).status_code == 401


def test_a_token_opens_no_page(client: FlaskClient, cast: Cast) -> None:
    token = a_token(cast.iris.account_id)
    answer = client.get("/teaching", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 302
