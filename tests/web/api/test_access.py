"""Access by token or session, scopes, and the protection of sessions."""

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.cast import Cast
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
