"""How long a session lasts."""

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.cast import PASSWORD, Cast
from tests.web.visitors import browser_of

MINUTE = 60
HOUR = 60 * MINUTE


def log_in(app: Flask, username: str, **fields: str) -> FlaskClient:
    client = app.test_client()
    client.post("/login", data={"username": username, "password": PASSWORD, **fields})
    return client


def later(client: FlaskClient, **seconds: int) -> None:
    """Move the login (`since`), or the last use (`used`), so many seconds into the past."""
    with client.session_transaction() as session:
        session.update({name: session[name] - ago for name, ago in seconds.items()})


def is_in(client: FlaskClient) -> bool:
    return client.get("/api/v1/me").status_code == 200


def test_session_ends_twelve_hours_after_the_login(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    later(client, since=12 * HOUR - MINUTE)
    assert is_in(client)
    client.post("/language", data={"language": "es"})  # the cookie is a new one from now on
    later(client, since=2 * MINUTE)
    assert not is_in(client)
    assert cast


def test_student_in_the_lobby_stays_logged_in(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    later(client, since=11 * HOUR)
    assert is_in(client)
    assert cast


@pytest.mark.parametrize(("username", "fields"), [("max", {}), ("ada", {"shared": "yes"})])
def test_idle_session_of_admins_and_shared_computers_ends(
    app: Flask, cast: Cast, username: str, fields: dict[str, str]
) -> None:
    client = log_in(app, username, **fields)
    later(client, used=29 * MINUTE)
    assert is_in(client)
    later(client, used=29 * MINUTE)
    assert is_in(client)  # used meanwhile
    later(client, used=30 * MINUTE)
    assert not is_in(client)
    assert cast


def test_session_on_a_shared_computer_ends_with_the_browser(app: Flask, cast: Cast) -> None:
    stored, gone = (log_in(app, "ada", **fields) for fields in ({}, {"shared": "yes"}))
    cookies = [client.get_cookie("fairseat") for client in (stored, gone)]
    assert [bool(cookie and cookie.expires) for cookie in cookies] == [True, False]
    assert gone.get_cookie("device", path="/login") is None
    assert cast


def test_session_without_a_start_is_invalid(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    with client.session_transaction() as session:
        del session["since"]
    assert not is_in(client)
    assert cast


def test_session_cookie_is_renewed_once_a_minute(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "max")
    client.get("/account")
    before = client.get_cookie("fairseat")
    client.get("/account")
    assert client.get_cookie("fairseat") == before
    assert cast
