"""Cookies go to this host alone, over nothing but https where there is https, and to no script."""

import re
from dataclasses import replace
from http.cookies import SimpleCookie

import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.app import create_app
from portal.backend import Backend
from tests.cast import PASSWORD, Cast

HTTPS = "https://localhost"


@pytest.fixture
def secure(backend: Backend) -> FlaskClient:
    """A browser at a portal behind https."""
    app = create_app(replace(backend.settings, secure_cookies=True, gate=False))
    app.config["WTF_CSRF_ENABLED"] = False
    return app.test_client()


def test_session_cookie_is_bound_to_the_host(secure: FlaskClient) -> None:
    [session] = _cookies(secure.get("/login", base_url=HTTPS), "__Host-fairseat")
    assert session["secure"]
    assert session["httponly"]
    assert session["samesite"] == "Lax"
    assert session["path"] == "/"
    assert not session["domain"]


def test_login_works_with_a_host_cookie(secure: FlaskClient, cast: Cast) -> None:
    form = {"username": "ada", "password": PASSWORD}
    assert secure.post("/login", base_url=HTTPS, data=form).status_code == 302
    assert secure.get("/api/v1/me", base_url=HTTPS).json["name"] == "Ada"
    assert cast.ada


def test_all_cookies_have_security_flags(secure: FlaskClient, cast: Cast) -> None:
    form = {"username": "ada", "password": PASSWORD}
    for answer in (
        secure.get("/login", base_url=HTTPS),
        secure.post("/login", base_url=HTTPS, data=form),
        secure.post("/language", base_url=HTTPS, data={"language": "es"}),
        secure.post("/logout", base_url=HTTPS),
    ):
        for cookie in _cookies(answer):
            assert cookie["secure"], cookie
            assert cookie["httponly"], cookie
            assert cookie["samesite"] in {"Lax", "Strict"}, cookie
            assert not cookie["domain"], cookie
    assert cast.ada


def test_cookie_without_https_is_protected_from_scripts_and_sites(client: FlaskClient) -> None:
    [session] = _cookies(client.get("/login"), "fairseat")
    assert session["httponly"]
    assert session["samesite"] == "Lax"


def test_cacheable_responses_have_no_cookie(client: FlaskClient) -> None:
    stored = re.findall(r'(?:href|src|data-script)="([^"]+\?v=[^"]+)"', client.get("/login").text)
    names = {address.partition("?")[0] for address in stored}
    assert names >= {"/static/build/style.css", "/static/build/script.js"}
    for address in stored:
        with client.get(address) as answer:
            assert "public" in answer.headers["Cache-Control"]
            assert "Set-Cookie" not in answer.headers
            assert "Cookie" not in answer.headers.get("Vary", "")


def _cookies(answer: TestResponse, name: str = "") -> list[SimpleCookie]:
    found = [SimpleCookie(line) for line in answer.headers.getlist("Set-Cookie")]
    return [morsel for cookie in found for morsel in cookie.values() if name in {"", morsel.key}]
