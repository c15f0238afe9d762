"""Headers on every answer."""

import re
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.app import create_app
from portal.backend import Backend
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def secure(backend: Backend) -> FlaskClient:
    """A browser in front of a portal that is served by https behind one proxy."""
    return create_app(replace(backend.settings, secure_cookies=True, proxies=1)).test_client()


@pytest.mark.parametrize(
    ("address", "how", "status"),
    [
        ("/login", {}, 200),
        ("/teaching", {}, 302),
        ("/static/build/style.css", {"headers": {"If-None-Match": "*"}}, 304),
        ("/static/img/mark.svg", {}, 200),
        ("/login", {"method": "POST", "data": {"username": "x" * 300_000}}, 413),
        ("/api/v1/me", {}, 401),
        ("/nowhere", {}, 404),
        ("/static/nothing.js", {}, 404),
        ("/clock", {"method": "POST"}, 405),
        ("/clock", {"method": "OPTIONS"}, 200),
        ("/login", {"headers": {"Host": "evil.example"}}, 400),
        ("/calendar/1-x.ics", {}, 404),
    ],
)
def test_every_response_has_security_headers(
    client: FlaskClient, address: str, how: dict[str, Any], status: int
) -> None:
    with client.open(address, **how) as answer:
        assert answer.status_code == status
        headers = answer.headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["X-Frame-Options"] == "DENY"
    assert "camera=()" in headers["Permissions-Policy"]
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    kind = headers.get("Content-Type", "")
    assert "charset=utf-8" in kind or not kind.startswith("text/")


def test_api_responses_are_not_rendered_as_pages(app: Flask, cast: Cast) -> None:
    answer = browser_of(app, "ada").get("/api/v1/me")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="api.json"'
    assert cast.ada


def test_debug_and_testing_modes_are_off(backend: Backend) -> None:
    app = create_app(backend.settings)
    assert not app.debug
    assert not app.testing
    assert app.config["WTF_CSRF_ENABLED"] is not False
    assert app.config["PROPAGATE_EXCEPTIONS"] is None


def test_policy_allows_nothing_unsafe(client: FlaskClient) -> None:
    policy = client.get("/login").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "connect-src 'self' ws://localhost;" in policy


def test_unknown_host_adds_nothing_to_the_policy(client: FlaskClient) -> None:
    answer = client.get("/login", headers={"Host": "x; script-src *"})
    assert "script-src *" not in answer.headers["Content-Security-Policy"]


def test_pages_have_no_inline_script_or_style(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    for page in (client.get("/login").text, client.get("/admin").text):
        assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*src=)", page)
    assert cast.max


def test_pages_are_not_cached(client: FlaskClient) -> None:
    assert client.get("/login").headers["Cache-Control"] == "no-store"


def test_fragments_are_not_cached(client: FlaskClient) -> None:
    answer = client.get("/login", headers={"HX-Request": "true"})
    assert answer.headers["Cache-Control"] == "no-store"


def test_plain_http_gets_no_hsts(client: FlaskClient) -> None:
    assert "Strict-Transport-Security" not in client.get("/login").headers


def test_https_gets_hsts(secure: FlaskClient) -> None:
    answer = secure.get("/login", headers={"X-Forwarded-Proto": "https"})
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "wss://localhost" in answer.headers["Content-Security-Policy"]
    assert "upgrade-insecure-requests" in answer.headers["Content-Security-Policy"]


def test_forwarded_headers_count_only_with_a_configured_proxy(
    client: FlaskClient,
) -> None:
    answer = client.get("/login", headers={"X-Forwarded-Host": "evil.example"})
    assert "evil.example" not in answer.headers["Content-Security-Policy"]
