"""Access by token or session: who is asking, scopes, and the protection of sessions."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tests.cast import Cast
from tests.people.tokens import a_token
from tests.web.api.callers import ROOT, caller
from tests.web.pages import held
from tests.web.visitors import browser_of


@pytest.fixture
def protected(app: Flask) -> Iterator[None]:
    """Require form tokens, as outside of the tests."""
    app.config["WTF_CSRF_ENABLED"] = True
    yield
    app.config["WTF_CSRF_ENABLED"] = False


@pytest.fixture
def browser(app: Flask, cast: Cast, request: pytest.FixtureRequest) -> FlaskClient:  # noqa: ARG001
    """Return a browser of Ada that logged in before form tokens were required."""
    found = browser_of(app, "ada")
    request.getfixturevalue("protected")
    return found


@pytest.mark.usefixtures("protected")
def test_token_request_needs_no_form_token(app: Flask, body: dict[str, Any]) -> None:
    assert caller(app, "ada").post("/register", body).status_code == 200


def test_session_request_needs_a_form_token_for_changes(
    browser: FlaskClient, term: Any, body: dict[str, Any], cast: Cast
) -> None:
    me = browser.get(f"{ROOT}/me")
    without = browser.post(f"{ROOT}/register", json=body)
    wrong = browser.post(f"{ROOT}/register", json=body, headers={"X-CSRFToken": "guessed"})
    for answer in (without, wrong):
        assert (answer.status_code, answer.json["type"]) == (400, "/api/docs#form-token")
        assert answer.json["errors"][0]["pointer"] == "/X-CSRFToken"
    assert held(term, cast.ada) == []
    token = {"X-CSRFToken": me.json["csrf_token"]}
    assert browser.post(f"{ROOT}/register", json=body, headers=token).status_code == 200


@pytest.mark.parametrize("header", ["Bearer x", "Basic YTpi", "fs_", "Bearer"])
def test_foreign_authorization_header_does_not_replace_the_form_token(
    browser: FlaskClient, body: dict[str, Any], header: str
) -> None:
    sent = {"Authorization": header}
    assert browser.post(f"{ROOT}/register", json=body, headers=sent).status_code == 400


def test_invalid_token_does_not_fall_back_to_the_session(app: Flask, body: dict[str, Any]) -> None:
    browser = browser_of(app, "ada")
    sent = {"Authorization": "Bearer fs_guessed"}
    assert browser.post(f"{ROOT}/register", json=body, headers=sent).status_code == 401
    assert browser.get(f"{ROOT}/me", headers=sent).status_code == 401


def test_token_is_limited_to_its_scopes(app: Flask, body: dict[str, Any], cast: Cast) -> None:
    reader = caller(app, "ada", ("read",))
    writer = caller(app, "ada", ("register",))
    mine = f"/students/{cast.ada.id}/registrations"
    refused = reader.post("/register", body)
    assert (reader.get(mine).status_code, refused.status_code) == (200, 403)
    assert refused.mimetype == "application/problem+json"
    assert refused.json["scope"] == "register"
    assert 'scope="register"' in refused.headers["WWW-Authenticate"]
    assert (writer.post("/register", body).status_code, writer.get(mine).status_code) == (200, 403)


def test_anonymous_requests_are_refused(app: Flask) -> None:
    client = app.test_client()
    for rule in app.url_map.iter_rules():
        if rule.endpoint.startswith("api."):
            methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            values = {name: "5" * 32 if name == "request_id" else 5 for name in rule.arguments}
            built = rule.build(values)
            assert built
            for method in methods:
                answer = client.open(built[1], method=method, json={})
                assert (answer.status_code, answer.mimetype) == (401, "application/problem+json")


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


HOUR = timedelta(hours=1)


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
