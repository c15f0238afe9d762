"""No form of another site changes anything: every changing route asks for the session's token."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text

from portal.app import create_app
from portal.backend import Backend
from portal.core.db import transaction
from portal.models import Base
from portal.recorder.journal import last_seq
from tests.cast import PASSWORD, Cast
from tests.web.http.all_routes import Values, a_values, address, routes

READING = {"GET", "HEAD", "OPTIONS"}
EXPIRED = "This form has expired"


@pytest.fixture
def values(app: Flask, cast: Cast) -> Values:
    return a_values(app, cast)


def test_every_changing_route_needs_a_form_token(strict: Flask, values: Values, cast: Cast) -> None:
    clients = {username: _log_in(strict, username) for username in ("ada", "iris", "max")}
    others, accepted = _token(_log_in(strict, "ben")), []
    before = _everything(values)
    for username, client in clients.items():
        for name, method, route in _changing(strict):
            for token in ("", "nonsense", others):
                form = {"csrf_token": token} if token else {}
                answer = client.open(address(route, values), method=method, data=form)
                if answer.status_code != 400 or EXPIRED not in answer.text:
                    accepted.append(f"{username}: {name} gave {answer.status_code}")
    assert not accepted, "\n".join(accepted)
    assert _everything(values) == before
    assert cast.ada


def test_form_token_may_be_in_form_or_header(strict: Flask, cast: Cast) -> None:
    client = _log_in(strict, "ada")
    token, form = _token(client), {"language": "es"}
    assert client.post("/language", data={**form, "csrf_token": token}).status_code == 303
    assert client.post("/language", data=form, headers={"X-CSRFToken": token}).status_code == 303
    assert client.post("/language", data=form).status_code == 400
    assert cast.ada


def test_another_site_cannot_log_in_a_visitor(strict: Flask, cast: Cast) -> None:
    attacker, victim = strict.test_client(), strict.test_client()
    form = {"username": "ben", "password": PASSWORD, "csrf_token": _token(attacker)}
    assert victim.post("/login", data=form).status_code == 400
    assert victim.get("/api/v1/me").status_code == 401
    assert cast.ben


def test_another_site_cannot_log_out_a_visitor(strict: Flask, cast: Cast) -> None:
    client = _log_in(strict, "ada")
    assert client.post("/logout").status_code == 400
    assert client.get("/logout").status_code == 405
    assert client.get("/api/v1/me").status_code == 200
    assert cast.ada


def test_form_token_ends_with_its_session(strict: Flask, cast: Cast) -> None:
    client = strict.test_client()
    before = _token(client)
    _log_in(strict, "ada", client)
    assert client.post("/logout", data={"csrf_token": before}).status_code == 400
    assert cast.ada


def test_form_of_another_origin_is_refused_under_https(backend: Backend, cast: Cast) -> None:
    settings = replace(backend.settings, gate=False, secure_cookies=True)
    client = create_app(settings).test_client()
    base = "https://localhost"
    token = _token(client, base_url=base)
    form = {"language": "es", "csrf_token": token}
    for origin, expected in (("https://evil.example/", 400), (f"{base}/login", 303)):
        headers = {"Referer": origin}
        answer = client.post("/language", data=form, base_url=base, headers=headers)
        assert answer.status_code == expected
    assert cast.ada


def _changing(app: Flask) -> Iterator[tuple[str, str, Any]]:
    """Return all changing routes, except those without form tokens.

    tests/web/api covers the API, and tests/applications/test_fees.py the signed messages of Stripe.
    """
    for name, method, route in routes(app):
        if method not in READING and not route.rule.startswith(("/api/", "/payments/stripe")):
            yield name, method, route


def _log_in(app: Flask, username: str, client: FlaskClient | None = None) -> FlaskClient:
    browser = client or app.test_client()
    form = {"username": username, "password": PASSWORD, "csrf_token": _token(browser)}
    assert browser.post("/login", data=form).status_code == 302
    return browser


def _token(client: FlaskClient, **how: Any) -> str:
    page = client.get("/login", follow_redirects=True, **how).text
    found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page)
    assert found
    return found[1]


def _everything(values: Values) -> dict[str, Any]:
    """Return the content of each table, and the last event of the ledger's journal."""
    counts = "SELECT count(*), coalesce(sum(hashtext(t::text)), 0) FROM {} t"
    with transaction() as session:
        found: dict[str, Any] = {
            name: tuple(session.execute(text(counts.format(name))).one())
            for name in Base.metadata.tables
        }
    return found | {"journal": last_seq(values["term_id"])}
