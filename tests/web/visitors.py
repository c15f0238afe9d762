"""Browsers of logged-in people."""

import re

from flask import Flask, session
from flask.testing import FlaskClient

from portal.people import visitors
from portal.people.models import Account
from portal.web.http import sessions


def browser_of(app: Flask, username: str) -> FlaskClient:
    """Return a browser without JavaScript with a session of that person."""
    client = app.test_client()
    visitor = visitors.read(Account.username == username)
    assert visitor
    with app.test_request_context(environ_base=client.environ_base):
        sessions.begin(visitor)
        begun = dict(session)
    with client.session_transaction() as stored:
        stored.update(begun)
    return client


def without_token(page: str) -> str:
    """Return the page without its form tokens, which change every second."""
    return re.sub(r'(name="csrf_token"[^>]* value=)"[^"]*"', r"\1", page)
