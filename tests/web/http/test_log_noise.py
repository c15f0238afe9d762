"""Strangers cannot cause tracebacks or many lines in the log."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from flask import Flask

from portal.backend import Backend
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.live.tabs import HANDSHAKE, cookie, knock
from tests.web.http.raw_http import say, send

TOKEN = re.compile(r'name="csrf_token" value="([^"]+)"')
NONSENSE = (
    b"GET / HTTP/9.9\r\n\r\n",
    b"GET /calendar/12-secretsecretsecretsecretsecretsecretsecretsecr.ics HTTP/x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: zip\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nBad Header: x\r\n\r\n",
)
HANDSHAKES: tuple[dict[str, str], ...] = (
    {"Sec-WebSocket-Version": "12"},
    {"Sec-WebSocket-Key": "x"},
    {"Sec-WebSocket-Key": ""},
    {"Connection": "close"},
    {"Sec-WebSocket-Protocol": "\xff,,"},
    {"Connection": "Upgrade, \xff"},
)


@pytest.fixture
def node(connected: Backend, tmp_path: Path) -> Iterator[Node]:  # noqa: ARG001
    with a_node(tmp_path) as node:
        yield node


@pytest.fixture
def log(node: Node, tmp_path: Path) -> Path:
    return tmp_path / f"web-{node.port}.log"


def test_wrong_password_logs_no_traceback(node: Node, log: Path, cast: Cast) -> None:
    with requests.Session() as browser:
        (token, *_) = TOKEN.findall(browser.get(f"{node.origin}/login", timeout=60).text)
        form = {"csrf_token": token, "username": "ada", "password": "not hers"}
        assert browser.post(f"{node.origin}/login", data=form, timeout=60).status_code == 422
    assert "Traceback" not in log.read_text()
    assert "failed to log in" in log.read_text()
    assert cast


def test_bad_handshake_logs_no_traceback(
    node: Node, log: Path, cast: Cast, application: Flask
) -> None:
    who = {"Cookie": cookie(application, cast.ada.account_id), "Origin": node.origin}
    for headers in HANDSHAKES:
        assert knock(node.port, {**HANDSHAKE, **who, **headers}).status < 500, headers
    assert knock(node.port, {**HANDSHAKE, **who}).status == 101
    assert "Traceback" not in log.read_text()


def test_flood_of_invalid_requests_logs_few_lines_without_content(node: Node, log: Path) -> None:
    for _ in range(20):
        for nonsense in NONSENSE:
            send(node, nonsense)
        say(node, "POST /login HTTP/1.1", "Origin: http://[", "Content-Length: 0")
        say(node, "GET /login/oidc/back?state=x&code=y HTTP/1.1")
    text = log.read_text()
    assert "Traceback" not in text
    assert "secretsecret" not in text
    assert len(text.splitlines()) < 60
