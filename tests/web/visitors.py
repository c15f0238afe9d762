"""Browsers that have logged in."""

import re

from flask import Flask
from flask.testing import FlaskClient

from tests.cast import PASSWORD


def browser_of(app: Flask, username: str) -> FlaskClient:
    """A browser without JavaScript in which that person has logged in."""
    client = app.test_client()
    answer = client.post("/login", data={"username": username, "password": PASSWORD})
    assert answer.status_code == 302
    return client


def without_token(page: str) -> str:
    """The page but for the token of its forms, which differs by the second."""
    return re.sub(r'(name="csrf_token"[^>]* value=)"[^"]*"', r"\1", page)
