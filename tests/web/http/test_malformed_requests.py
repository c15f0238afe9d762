"""Malformed requests are refused before the portal sees them, and never read as two."""

import re
from typing import Any
from urllib.parse import urlencode

import pytest
from flask import Flask

from portal.catalog import formatting, search
from portal.catalog.models import Term
from tests.cast import Cast
from tests.live.nodes import Node
from tests.web.http.raw_http import say, send
from tests.web.visitors import browser_of

SMUGGLED = "0\r\n\r\nGET /health HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize(
    "framing",
    [
        ["Content-Length: 6", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked", "Content-Length: 6"],
        ["Content-Length: 6", "Content-Length: 60"],
        ["Content-Length: 6", "Content-Length: 6"],
        ["Content-Length: 6, 6"],
        ["Content-Length: +6"],
        ["Content-Length: -1"],
        ["Content-Length: 0x6"],
        ["Content-Length : 6"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: identity, chunked, chunked"],
        ["Transfer-Encoding: xchunked"],
        ["Transfer-Encoding: \x0bchunked"],
        ["Transfer-Encoding:\r\n chunked"],
    ],
    ids=" + ".join,
)
def test_body_of_ambiguous_length_is_refused(node: Node, framing: list[str]) -> None:
    heard = say(node, "POST /login HTTP/1.1", *framing, body=SMUGGLED)
    assert heard.status in {400, 501}
    assert heard.answers == 1
    assert heard.hung_up


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\nHost: x\n\n",
        b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n\r\n",
        b"get / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/3.0\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\x00b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nX y: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 not TLS here\r\n\r\n",
    ],
)
def test_invalid_request_is_refused(node: Node, head: bytes) -> None:
    heard = send(node, head)
    assert heard.status == 400
    assert heard.hung_up


def test_health_check_needs_no_host_header(node: Node) -> None:
    assert send(node, b"GET /live HTTP/1.0\r\n\r\n").status == 200
    assert send(node, b"GET /live HTTP/1.0\r\nHost:\r\n\r\n").status == 400


@pytest.mark.parametrize(
    "address",
    [
        *("/static", "/static/", "/static/css/", "/static/../setup.cfg", "/static/..%2fsetup.cfg"),
        *("/static/%2e%2e/setup.cfg", "/static//etc/passwd", "/static/%2fetc/passwd"),
        *("/static/..%5csetup.cfg", "/setup.cfg", "/wsgi.py", "/.git/config", "/var/"),
    ],
)
def test_folders_and_other_files_are_not_served(node: Node, address: str) -> None:
    assert say(node, f"GET {address} HTTP/1.1").status in {308, 404}


def test_responses_hide_the_server_version(node: Node) -> None:
    assert "\r\nServer: gunicorn\r\n" in say(node, "GET /login HTTP/1.1").text


def test_long_address_is_refused(node: Node) -> None:
    assert say(node, f"GET /login?{'x' * 5000} HTTP/1.1").status == 414


def test_longest_search_with_many_filters_is_answered_also_after_a_login(node: Node) -> None:
    """As long as the form of the list of sections can make an address."""
    pairs = [("q", "\u754c" * search.LONGEST), ("subject", "x" * search.LONGEST_SUBJECT)]
    pairs += [("days", day) for day in formatting.DAYS]
    pairs += [(name, "12:00") for name in ("from", "to", "open", "credits", "fits", "meets")]
    heard = say(node, f"GET /terms/1?{urlencode(pairs)} HTTP/1.1")
    assert heard.status == 302
    [login] = re.findall(r"\r\nLocation: (/login\S+)", heard.text)
    assert say(node, f"GET {login} HTTP/1.1").status == 200


@pytest.mark.parametrize(
    "headers",
    [[f"X: {'x' * 9000}"], [f"X-{number}: x" for number in range(100)]],
    ids=["a long one", "many"],
)
def test_too_many_headers_are_refused(node: Node, headers: list[str]) -> None:
    assert say(node, "GET /login HTTP/1.1", *headers).status == 431


@pytest.mark.parametrize("method", ["TRACE", "TRACK", "DELETE", "PUT", "PATCH", "PROPFIND"])
def test_unused_methods_are_refused(node: Node, method: str) -> None:
    heard = say(node, f"{method} /login HTTP/1.1", "Cookie: secret=1")
    assert heard.status == 405
    assert "secret" not in heard.text


def test_connect_method_is_refused(node: Node) -> None:
    assert say(node, "CONNECT example.org:443 HTTP/1.1").status in {400, 404, 405}


@pytest.mark.parametrize(
    "header", ["X-HTTP-Method-Override: POST", "X-HTTP-Method: POST", "X-Method-Override: POST"]
)
def test_method_override_headers_are_ignored(node: Node, header: str) -> None:
    assert say(node, "GET /logout HTTP/1.1", header).status == 405


def test_protocol_upgrade_is_ignored(node: Node) -> None:
    choice = "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA"
    heard = say(node, "GET /login HTTP/1.1", *choice)
    assert heard.status == 200


@pytest.mark.parametrize(
    "header",
    [
        "SCRIPT_NAME: /evil",
        "PATH_INFO: /ready",
        "REMOTE_USER: admin",
        "X-Original-URL: /ready",
        "X-Rewrite-URL: /ready",
        "X-Forwarded-Prefix: /evil",
        "X-Forwarded-Host: evil.example",
        "X-Forwarded-Proto: https",
        "Forwarded: host=evil.example;proto=https",
        "X-Host: evil.example",
    ],
)
def test_headers_cannot_change_the_portals_path(node: Node, header: str) -> None:
    heard = say(node, "GET /login HTTP/1.1", header)
    assert heard.status == 200
    assert 'action="/login"' in heard.text
    assert "evil" not in heard.text
    assert "wss:" not in heard.text


def test_absolute_address_is_read_as_its_path(node: Node) -> None:
    heard = say(node, "GET http://evil.example/login HTTP/1.1")
    assert heard.status in {200, 400, 404}
    assert "evil" not in heard.text


def test_server_errors_reveal_nothing(node: Node) -> None:
    heard = say(node, "GET /login HTTP/1.1", "X: <script>alert(1)</script>\x00")
    assert heard.status == 400
    assert "<script>" not in heard.text
    assert "Traceback" not in heard.text


def test_requests_cannot_forge_log_lines(node: Node) -> None:
    send(node, b"GET / HTTP/1.1\r\nHost: x\r\nX: \x1b[2J\rforged line\r\n\r\n")
    send(node, b"GET /forged\x1b[2J HTTP/1.1\r\nHost: x\r\n\r\n")
    say(node, "GET /teaching%0aforged%1b%5b2J HTTP/1.1")
    result = node.child.last_output(200)
    assert "\x1b" not in result
    assert "\nforged" not in result


@pytest.mark.parametrize("body", [[1], "x", 5, None, {"reason": 5, "kind": [], "message": {}}])
def test_json_is_not_accepted_as_a_form(app: Flask, cast: Cast, term: Term, body: Any) -> None:
    admin = browser_of(app, "max")
    for position in (
        f"/admin/students/{cast.ada.id}/holds/new",
        "/admin/imports",
        f"/admin/terms/{term.id}/rules",
        f"/admin/terms/{term.id}/adjust",
        f"/admin/terms/{term.id}/underfilled",
    ):
        assert admin.post(position, json=body).status_code < 500
    assert app.test_client().post("/login", json={"username": 5}).status_code < 500
