"""GET /api/v1/me."""

from datetime import UTC, datetime, timedelta
from hashlib import sha256

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.db import transaction
from portal.people.models import AccessKey
from tests.cast import Cast
from tests.web.visitors import browser_of

TOKEN = "fs_for-tests"
HOUR = timedelta(hours=1)


def a_key(account_id: int, **fields: datetime) -> None:
    digest = sha256(TOKEN.encode()).digest()
    with transaction() as session:
        session.add(AccessKey(account_id=account_id, name="test", digest=digest, **fields))


def ask(client: FlaskClient, token: str = TOKEN) -> TestResponse:
    return client.get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})


def test_it_says_who_is_asking_by_session(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "ada").get("/api/v1/me").json == {
        "id": cast.ada.account_id,
        "name": "Ada",
        "roles": ["student"],
        "student_id": cast.ada.id,
        "teacher_id": None,
    }


def test_it_says_who_is_asking_by_token(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id)
    assert ask(client).json["roles"] == ["instructor"]


def test_it_needs_a_login(client: FlaskClient) -> None:
    answer = client.get("/api/v1/me")
    assert answer.status_code == 401
    assert answer.mimetype == "application/problem+json"


def test_an_unknown_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id)
    assert ask(client, "fs_guessed").status_code == 401
    assert ask(client, "without prefix").status_code == 401


def test_an_expired_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id, expires_at=datetime.now(UTC) - HOUR)
    assert ask(client).status_code == 401


def test_a_token_that_will_expire_is_good_until_then(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id, expires_at=datetime.now(UTC) + HOUR)
    assert ask(client).status_code == 200


def test_a_revoked_token_is_refused(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id, revoked_at=datetime.now(UTC))
    assert ask(client).status_code == 401


def test_a_token_opens_no_page(client: FlaskClient, cast: Cast) -> None:
    a_key(cast.iris.account_id)
    answer = client.get("/teaching", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 302
