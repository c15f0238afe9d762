"""Headers on every answer."""

import re
from dataclasses import replace

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal import create_app
from portal.backend import Backend
from tests.cast import Cast
from tests.web.visitors import browser_of


@pytest.fixture
def secure(backend: Backend) -> FlaskClient:
    """A browser in front of a portal that is served by https behind one proxy."""
    return create_app(replace(backend.settings, secure_cookies=True, proxies=1)).test_client()


@pytest.mark.parametrize("address", ["/login", "/nowhere", "/style.css", "/api/v1/me", "/clock"])
def test_every_answer_is_sealed(client: FlaskClient, address: str) -> None:
    headers = client.get(address).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]


def test_the_policy_has_nothing_unsafe_in_it(client: FlaskClient) -> None:
    policy = client.get("/login").headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "*" not in policy
    assert "connect-src 'self' ws://localhost;" in policy


def test_a_strange_host_adds_nothing_to_the_policy(client: FlaskClient) -> None:
    answer = client.get("/login", headers={"Host": "x; script-src *"})
    assert "script-src *" not in answer.headers["Content-Security-Policy"]


def test_pages_have_no_script_or_style_within_them(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    for page in (client.get("/login").text, client.get("/admin").text):
        assert not re.search(r"<style|style=|\son\w+=|<script(?![^>]*src=)", page)
    assert cast.max


def test_pages_are_not_kept_by_shared_caches(client: FlaskClient) -> None:
    assert client.get("/login").headers["Cache-Control"] == "private, no-cache"


def test_parts_of_pages_are_kept_by_nobody(client: FlaskClient) -> None:
    answer = client.get("/login", headers={"HX-Request": "true"})
    assert answer.headers["Cache-Control"] == "no-store"


def test_plain_http_is_not_told_to_be_https(client: FlaskClient) -> None:
    assert "Strict-Transport-Security" not in client.get("/login").headers


def test_https_stays_https(secure: FlaskClient) -> None:
    answer = secure.get("/login", headers={"X-Forwarded-Proto": "https"})
    assert "max-age=31536000" in answer.headers["Strict-Transport-Security"]
    assert "Secure" in answer.headers["Set-Cookie"]
    assert "wss://localhost" in answer.headers["Content-Security-Policy"]


def test_forwarded_headers_are_believed_only_where_a_proxy_is_configured(
    client: FlaskClient,
) -> None:
    answer = client.get("/login", headers={"X-Forwarded-Host": "evil.example"})
    assert "evil.example" not in answer.headers["Content-Security-Policy"]
