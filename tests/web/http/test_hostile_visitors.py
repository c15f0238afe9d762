"""A stranger's requests never cause a 5xx or a traceback."""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from portal.app import create_app
from portal.people import tokens
from portal.protection.rate_limits import rate_limiter
from tests.cast import PASSWORD, Cast
from tests.soak import one_in
from tests.web.http.all_routes import Values, a_values, address, routes
from tests.web.http.test_hostile_input import TELL_OF_WORKERS
from tests.web.pages import hidden
from tests.web.visitors import browser_of

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]  # each asks hundreds of times

ADDRESSES = (
    "http://[",
    "https://[",
    "http://h:x",
    "http://h:99999",
    "null",
    "\xff",
    "//",
    "x" * 3000,
)
HEADERS = (
    *({"Origin": each} for each in ADDRESSES),
    *({"Referer": each} for each in ADDRESSES),
    *({"HX-Request": "true", "HX-Current-URL": each} for each in ADDRESSES),
    *({"Host": each} for each in ("[", "[::1", "a:b:c", "\xff", "..", "x" * 3000, "h:99999", " ")),
    *({"X-Forwarded-Host": each} for each in ("[", "\xff", "a,b", "h:99999")),
    *({"X-Forwarded-For": each} for each in ("[", "fe80::1%eth0", "\xff", "1.2.3.4:x", ",")),
    *({"X-Forwarded-Proto": each} for each in ("\xff", "wss", "https, http", "x" * 3000)),
    *({"Accept-Language": each} for each in ("*;q=nan", "a" * 3000, "en;q=1e999", "\xff")),
    *({"If-None-Match": each} for each in ("\xff", '"', 'W/"')),
    *({"Cookie": each} for each in ("fairseat=\xff", "device=.", "device=a.b.c.d", "pass=\xff")),
    *(
        {"Content-Type": each}
        for each in ("multipart/form-data; boundary=", "a/b; charset=x", "\xff")
    ),
    *({"Authorization": each} for each in ("Basic \xff", "Bearer fs_\xff", "Digest x", "\xff")),
    *({"Content-Length": each} for each in ("-1", "x", "9" * 30)),
)
KINDS = (
    "application/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
)
API_FIELDS = ("section_id", "section_ids", "semester_id", "along", "idempotency_key", "payload")
ODD: tuple[Any, ...] = ("\ud800", ["\ud800"], "\0", ["\0"], 10**30, [10**30], {"a": []}, [[[]]], -1)
ENDING = {"live.socket", "login.log_out", "account.end_sessions"}
QUERIES = (
    "?%ff=%ff",
    f"?{'a' * 3000}",
    f"?page={'9' * 3000}",
    "?next=http://[",
    "?state=%00&code=%ff",
)
BODIES = (
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe",
    b'{"reason": "\\ud800", "name": "\\udfff", "idempotency_key": "\\ud800"}',
    b'{"section_id": "\\u0000", "section_ids": ["\\u0000"], "request": "\\u0000"}',
    b'{"section_id": 1e400, "section_ids": [-0.0, 99999999999999999999999]}',
    b'{"section_id": ' + b"9" * 5000 + b"}",
    b'{"section_id": NaN}',
    b"null",
    b'"' + b"x" * 200_000 + b'"',
)


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


@pytest.fixture(params=["http", "https"])
def strict(request: Any, app: Flask, cast: Cast, values: Values) -> Iterator[Flask]:  # noqa: ARG001
    """The portal with its gate and form tokens, as it runs; by https behind a proxy."""
    secure = request.param == "https"
    settings = replace(app.config["SETTINGS"], secure_cookies=secure, proxies=int(secure))
    rate_limiter().own.clear()
    strict = create_app(settings)
    strict.config.update(PREFERRED_URL_SCHEME=request.param)
    yield strict
    rate_limiter().own.clear()


@pytest.fixture(autouse=True)
def _quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fail if an error or a traceback was logged."""
    caplog.set_level(logging.INFO)
    yield
    loud = [each for each in caplog.records if each.levelno >= logging.ERROR or each.exc_info]
    assert not [each.getMessage() for each in loud]


def test_no_header_query_or_body_causes_a_server_error(strict: Flask, values: Values) -> None:
    _unbroken(strict, values, [{"headers": each} for each in HEADERS])
    _unbroken(strict, values, [{"query": each} for each in QUERIES])
    hows = [{"data": body, "content_type": kind} for kind in KINDS for body in BODIES]
    _unbroken(strict, values, hows, reads=False)


def test_no_body_causes_a_server_error_for_a_token(app: Flask, values: Values, cast: Cast) -> None:
    client = app.test_client()
    token = tokens.create(cast.ada.account_id, tokens.TokenRequest("hostile"))
    bearer = {"Authorization": f"Bearer {token}"}
    broken = []
    for name, method, route in routes(app):
        if method == "GET" or not route.rule.startswith("/api/"):
            continue
        fields = {"section_id": values["section_id"]}
        odd = [json.dumps({**fields, field: text}) for field in API_FIELDS for text in ODD]
        for body in one_in(5, (*BODIES, *odd), name):
            answer = client.open(
                address(route, values),
                method=method,
                data=body,
                headers=bearer,
                content_type=KINDS[0],
            )
            if answer.status_code >= 500:
                broken.append(f"{answer.status_code} {name} {body[:200]!r}")
    assert not broken, "\n".join(broken)


@pytest.fixture(scope="module")
def by_https(application: Flask) -> Flask:
    """The portal by https, without its gate."""
    settings = application.config["SETTINGS"]
    return create_app(replace(settings, secure_cookies=True, gate=False))


@pytest.mark.parametrize("referer", ADDRESSES)
def test_invalid_referer_counts_as_foreign(by_https: Flask, cast: Cast, referer: str) -> None:
    client = by_https.test_client()
    page = client.get("/login", base_url="https://localhost")
    form = {**hidden(page.text), "username": "ada", "password": PASSWORD}
    for sent, status in ((referer, 400), ("https://localhost/login", 302)):
        answer = client.post(
            "/login", data=form, base_url="https://localhost", headers={"Referer": sent}
        )
        assert answer.status_code == status
    assert cast


def _unbroken(
    app: Flask, values: Values, hows: list[dict[str, Any]], *, reads: bool = True
) -> None:
    broken = []
    for name, method, path in _some(app, values):
        for who in ("", "ada"):
            client = browser_of(app, who) if who else app.test_client()
            for how in one_in(25, hows, path + who) if reads or method != "GET" else ():
                status = _status(client, method, path, dict(how))
                if status >= 500:
                    broken.append(f"{status} {who} {name} {str(how)[:200]}")
            rate_limiter().own.clear()
    assert not broken, "\n".join(broken)


def _some(app: Flask, values: Values) -> list[tuple[str, str, str]]:
    """A route of each blueprint and method: the others share what is decided before a view."""
    kinds = {
        (route.endpoint.partition(".")[0], method): (name, method, address(route, values))
        for name, method, route in routes(app)
        if name not in TELL_OF_WORKERS and route.endpoint not in ENDING
    }
    return list(kinds.values())


def _status(client: FlaskClient, method: str, path: str, how: dict[str, Any]) -> int:
    scheme = client.application.config["PREFERRED_URL_SCHEME"]
    headers = {"X-Forwarded-Proto": scheme, **how.pop("headers", {})}
    with client.open(
        path + how.pop("query", ""),
        method=method,
        base_url=f"{scheme}://localhost",
        headers=headers,
        **how,
    ) as answer:
        return answer.status_code
