"""POST /logout."""

from collections.abc import Iterator
from pathlib import Path
from time import time

import pytest
import requests
from flask import Flask

from portal.backend import Backend
from portal.people import accounts, visitors
from portal.people.models import Account
from tests.cast import PASSWORD, Cast
from tests.live.nodes import Node, a_node
from tests.recorder.processes import wait_for
from tests.web.visitors import browser_of


@pytest.fixture
def node(connected: Backend, tmp_path: Path) -> Iterator[Node]:  # noqa: ARG001
    """Return a separate web process."""
    with a_node(tmp_path) as node:
        yield node


def test_logout_ends_the_session(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    assert client.post("/logout").location == "/login"
    assert client.get("/api/v1/me").status_code == 401
    assert cast.ada


def test_logout_needs_a_form(app: Flask, cast: Cast) -> None:
    assert browser_of(app, "ada").get("/logout").status_code == 405
    assert cast.ada


def test_copied_cookie_is_invalid_after_logout(app: Flask, cast: Cast) -> None:
    client, elsewhere = browser_of(app, "ada"), browser_of(app, "ada")
    copied = client.get_cookie("fairseat")
    assert copied
    client.post("/logout")
    thief = app.test_client(use_cookies=False)
    stolen = {"Cookie": f"fairseat={copied.value}"}
    assert thief.get("/api/v1/me", headers=stolen).status_code == 401
    assert elsewhere.get("/api/v1/me").status_code == 200
    assert cast.ada


def test_copied_cookie_is_invalid_on_other_nodes(
    cast: Cast, application: Flask, node: Node
) -> None:
    client = browser_of(application, "ada")
    copied = client.get_cookie("fairseat")
    assert copied

    def status() -> int:
        stolen = {"fairseat": copied.value}
        return requests.get(f"{node.origin}/api/v1/me", cookies=stolen, timeout=60).status_code

    assert status() == 200
    client.post("/logout")
    wait_for(lambda: status() == 401)
    assert cast.ada


def test_login_ends_the_session_it_replaces(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    copied = client.get_cookie("fairseat")
    assert copied
    client.post("/login", data={"username": "ada", "password": PASSWORD})
    thief = app.test_client(use_cookies=False)
    stolen = {"Cookie": f"fairseat={copied.value}"}
    assert thief.get("/api/v1/me", headers=stolen).status_code == 401
    assert client.get("/api/v1/me").status_code == 200
    assert cast.ada


def test_new_login_survives_the_end_of_all_old_sessions(app: Flask, cast: Cast) -> None:
    client = browser_of(app, "ada")
    for number in range(accounts.MAX_ENDED_SESSIONS):
        accounts.end_session(cast.ada.account_id, str(number), time() + 3600)
    client.post("/login", data={"username": "ada", "password": PASSWORD})
    assert client.get("/api/v1/me").status_code == 200


def test_ended_sessions_are_deleted_when_they_expire(app: Flask, cast: Cast) -> None:
    account = cast.ada.account_id
    accounts.end_session(account, "long ago", time() - 1)
    for name in ("a", "b"):
        accounts.end_session(account, name, time() + 3600)
    found = visitors.read(Account.id == account)
    assert found
    assert found.ended == {"a", "b"}
    assert app


def test_endless_logouts_end_all_sessions(app: Flask, cast: Cast) -> None:
    account = cast.ada.account_id
    other = browser_of(app, "ada")
    for number in range(accounts.MAX_ENDED_SESSIONS + 1):
        accounts.end_session(account, str(number), time() + 3600)
    found = visitors.read(Account.id == account)
    assert found
    assert not found.ended
    assert other.get("/api/v1/me").status_code == 401
