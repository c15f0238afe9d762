"""Clients of the API, each with its own access token."""

from dataclasses import dataclass
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.people import service_tokens, tokens
from portal.people.roles import PERSONAL_SCOPES, SERVICE_SCOPES
from portal.people.tokens import TokenRequest

ROOT = "/api/v1"


@dataclass(frozen=True)
class Caller:
    """A program with a person's access token."""

    client: FlaskClient
    token: str

    def get(self, path: str, **args: Any) -> TestResponse:
        """Send a GET request; `args` go into the address."""
        return self.client.get(ROOT + path, query_string=args or None, headers=self.headers())

    def post(self, path: str, body: Any, **headers: str) -> TestResponse:
        """Send a JSON body; `headers` are written with underscores."""
        return self.client.post(ROOT + path, json=body, headers=self.headers(**headers))

    def headers(self, **more: str) -> dict[str, str]:
        """Return the headers of every request."""
        named = {name.replace("_", "-"): value for name, value in more.items()}
        return {"Authorization": f"Bearer {self.token}", **named}


def caller(app: Flask, username: str, scopes: tuple[str, ...] = tuple(PERSONAL_SCOPES)) -> Caller:
    """Return a program with a token of that account."""
    return Caller(app.test_client(), tokens.create_for(username, TokenRequest("tests", scopes)))


def program(app: Flask, *scopes: str, name: str = "Advising system") -> Caller:
    """Return a program of the university with a service token, by default with all scopes."""
    wanted = TokenRequest(name, scopes or tuple(SERVICE_SCOPES), 30)
    return Caller(app.test_client(), service_tokens.create(wanted, by=None))
