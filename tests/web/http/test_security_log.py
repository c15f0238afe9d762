"""The security log has logins and refused requests, and no secrets."""

import logging
import re

import pytest
from cachetools import TTLCache
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from portal.backend import backend
from portal.calendar import feeds
from portal.core import logs
from portal.core.db import connect
from tests.cast import PASSWORD, Cast
from tests.web.visitors import browser_of


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    logs.forget()


def test_logins_are_logged_with_their_outcome(
    client: FlaskClient, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    client.post("/login", data={"username": "ada", "password": "not it"})
    client.post("/login", data={"username": "ada", "password": PASSWORD})
    client.post("/logout")
    messages = _said(caplog)
    account = cast.ada.account_id
    assert re.search(rf"failed to log in .*account {account}, from 127\.0\.0\.1", messages)
    assert re.search(rf"logged in .*account {account}, from 127\.0\.0\.1", messages)
    assert re.search(rf"logged out .*account {account}, from 127\.0\.0\.1", messages)


def test_refused_requests_are_logged(
    app: Flask, cast: Cast, caplog: pytest.LogCaptureFixture
) -> None:
    answer = browser_of(app, "ada").get("/admin")
    result = f"turned away with 403 GET /admin, account {cast.ada.account_id}"
    assert result in _said(caplog)
    assert answer.headers["X-Correlation-Id"] in _said(caplog)


def test_flood_is_logged_once(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "recent", TTLCache(100, 3600))  # however long it takes
    for _ in range(20):
        client.get("/api/v1/me")
    assert _said(caplog).count("turned away with 401") == 1


def test_lasting_flood_is_logged_again_later(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(logs, "recent", TTLCache(100, 10, timer=lambda: now[0]))
    result = []
    for second in range(25):
        now[0] = second
        if logs.is_new("a line"):
            result.append(second)
    assert result == [0, 10, 20]


def test_addresses_and_methods_of_refused_requests_are_not_logged(
    app: Flask, caplog: pytest.LogCaptureFixture
) -> None:
    client = app.test_client()
    client.get("/api/v1/me%0aforged%0d%1b[2J", headers={"Host": "evil.example"})
    client.open("/forged%0a", method="FORGED")
    client.post("/forged")
    assert "turned away with 400 GET nowhere" in _said(caplog)
    assert "forged" not in _said(caplog).lower()


def test_repeated_anonymous_logouts_are_logged_once(
    client: FlaskClient, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logs, "recent", TTLCache(100, 3600))
    for _ in range(20):
        client.post("/logout")
        client.post("/nowhere")
    assert _said(caplog).count("logged out") == 1
    assert _said(caplog).count("POST nowhere: 404") == 1


def test_secrets_are_not_logged(app: Flask, cast: Cast, caplog: pytest.LogCaptureFixture) -> None:
    client = browser_of(app, "ada")
    client.post("/login", data={"username": "ada", "password": "sesame open"})
    client.get("/api/v1/me", headers={"Authorization": "Bearer fs_sesame"})
    client.get("/admin", headers={"Authorization": "Bearer fs_sesame"})
    feeds.renew(cast.ada.id)
    feed = feeds.current(cast.ada.id)
    assert feed
    client.get(f"/calendar/{feeds.secret(feed)}.ics")
    client.get(f"/calendar/{feeds.secret(feed)}x.ics")
    client.get(f"/calendar/{feeds.secret(feed)}.ics", headers={"Host": "evil.example"})
    for _ in range(11):  # one more than is let through: what is turned away is told
        client.get(f"/calendar/{feeds.secret(feed)}.ics", base_url="http://127.0.0.1")
    assert "turned away with 429 GET /calendar/<secret>.ics" in _said(caplog)
    cookie = client.get_cookie("fairseat")
    for secret in (PASSWORD, "sesame", feeds.secret(feed), cookie.value if cookie else "none"):
        assert secret not in _said(caplog)


def test_failed_statement_logs_no_parameters() -> None:
    engine = connect(backend().settings.database_url)
    with engine.connect() as session, pytest.raises(SQLAlchemyError) as failed:
        session.execute(text("SELECT 1 / 0 WHERE :secret != ''"), {"secret": "sesame"})
    assert "sesame" not in str(failed.value)
    engine.dispose()


def _said(caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join(record.getMessage() for record in caplog.records)
