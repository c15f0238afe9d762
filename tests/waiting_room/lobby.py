"""Browsers of logged-in students who have solved the captcha."""

import re
from time import time
from typing import Any

from flask import Flask
from flask.testing import FlaskClient

from portal.registration import limits
from portal.waiting_room import room
from portal.web.http.admission import PROOF
from portal.web.student import waiting_room
from tests.web.pages import HTMX
from tests.web.visitors import browser_of


def proven(app: Flask, username: str, student: Any) -> FlaskClient:
    """Return the browser of a student who has solved the captcha."""
    client = browser_of(app, username)
    with client.session_transaction() as session:
        session[PROOF] = (student.account_id, time() + 1000)
    return client


def shut(term: Any, window: Any, *, inside: int = 0) -> None:
    """Admit no one, except so many in all."""
    room.set_limits(term.id, window.id, 6000, inside, off=False)


def look(client: FlaskClient, term: Any, page: str = "") -> str:
    """Return a page of the term, without cached data."""
    limits.forget_windows()
    waiting_room.room_of.cache_clear()  # type: ignore[attr-defined]
    return client.get(f"/terms/{term.id}{page}").text


def come(client: FlaskClient, term: Any) -> Any:
    """Join the queue, as the page's script does."""
    return client.post(f"/terms/{term.id}/room", headers=HTMX)


def facts(html: str) -> dict[str, str]:
    """Return the data in the banner for its script."""
    banner = html[html.index('id="banner"') :].partition(">")[0]
    return dict(re.findall(r'data-([\w-]+)="([^"]*)"', banner))


def strip(html: str) -> str:
    """Return the content below the banner."""
    found = re.search(r'id="gate"[^>]*>(.*?)</div>', html, re.DOTALL)
    assert found
    return found[1]
