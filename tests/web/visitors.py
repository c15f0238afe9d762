"""Browsers that have logged in."""

from flask import Flask
from flask.testing import FlaskClient

from tests.cast import PASSWORD


def browser_of(app: Flask, username: str) -> FlaskClient:
    """A browser without JavaScript in which that person has logged in."""
    client = app.test_client()
    answer = client.post("/login", data={"username": username, "password": PASSWORD})
    assert answer.status_code == 302
    return client
