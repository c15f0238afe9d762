"""The OpenAPI document: what is common to all operations, and its problem responses."""

from http import HTTPStatus
from importlib.metadata import version
from typing import Any, Literal

import flask_smorest
from flask import Flask

from portal.api.schemas import Problem
from portal.api.wanted import Choice
from portal.people.keys import PREFIX

TITLE = "Fairseat API"
ABOUT = """\
Registration as a program sees it: the same ledger, the same rules and the same receipts as on the
pages. Every answer is `{success, message, data}`; every error is a problem (RFC 9457) that carries
`success` and `message` too. Times are UTC, ids are whole numbers, credits are numbers such as 1.5.
"""
PROBLEM = "application/problem+json"

WHY = {
    HTTPStatus.BAD_REQUEST: "It can't be read; or a form token is missing, or a key stood for"
    " something else: `errors` names it.",
    HTTPStatus.UNAUTHORIZED: "Nobody is logged in, or the access token is not valid.",
    HTTPStatus.FORBIDDEN: "Not yours: another account, role, scope or pass is needed.",
    HTTPStatus.NOT_FOUND: "There is no such thing, or it is not yours to see.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address is not asked that way.",
    HTTPStatus.REQUEST_TIMEOUT: "The body took too long to arrive.",
    HTTPStatus.CONFLICT: "Refused, with `data` that says why; or the same request is still being"
    " decided (`Retry-After`).",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is no JSON.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Fields that make no sense: `errors` names each.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests: `Retry-After` says when to come back.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something broke on our side.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A store can't be asked now: `Retry-After` says when to ask"
    " again, under the same idempotency key.",
}
Tag = Literal["registration", "records", "catalogue", "waiting room", "you", "health"]
TAGS: dict[Tag, str] = {
    "registration": "Seats and places in line, had and given up. Each decision is one atomic step.",
    "records": "What a student has, and waits for.",
    "catalogue": "What there is to choose from, and when.",
    "waiting room": "Fair admission when many come at once.",
    "you": "Who is asking.",
    "health": "For load balancers, open to everyone; and for operators.",
}

HEADERS: dict[str, dict[str, Any]] = {
    "Idempotency-Key": {
        "description": "The key of this request: yours, or the one that was made for it.",
        "schema": {"type": "string"},
    },
    "Idempotency-Replayed": {
        "description": "`true` where the answer is that of an earlier request with this key.",
        "schema": {"type": "string", "enum": ["true"]},
    },
    "Fairseat-Recorded-At": {
        "description": "Sent where the ledger could not be asked: the answer is what was last"
        " recorded, and this the time of the last event in it; `never` where nothing was.",
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "Where to ask for the place.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "Retry-After": {
        "description": "Seconds to wait.",
        "schema": {"type": "integer", "minimum": 1},
    },
}
LATER = {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.CONFLICT}

TO_READ: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
TO_CHANGE: list[dict[str, list[str]]] = [{"token": []}, {"session": [], "form": []}]


def security(cookie: str) -> dict[str, dict[str, str]]:
    """The ways to say who one is."""
    return {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": f"A personal access token, `{PREFIX}…`: to read, to register, or both.",
        },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": cookie,
            "description": "The session of a browser that has logged in.",
        },
        "form": {
            "type": "apiKey",
            "in": "header",
            "name": "X-CSRFToken",
            "description": "What a session needs too, to change anything: see `GET /api/v1/me`.",
        },
    }


class Document(flask_smorest.Api):  # type: ignore[misc]
    """The document of one application; its errors are told by portal.web.http.errors."""

    DEFAULT_ERROR_RESPONSE_NAME = None
    ERROR_SCHEMA = Problem

    def __init__(self, app: Flask) -> None:
        app.config.update(
            API_TITLE=TITLE,
            API_VERSION=version("fairseat"),
            OPENAPI_VERSION="3.1.0",
            API_SPEC_OPTIONS={"info": {"description": ABOUT}, "servers": [{"url": "/"}]},
        )
        super().__init__(app)
        for name, scheme in security(app.config["SESSION_COOKIE_NAME"]).items():
            self.spec.components.security_scheme(name, scheme)
        self.spec.components.schema("Choice", schema=Choice)

    def whole(self) -> dict[str, Any]:
        """The document, in the order in which people read it."""
        found: dict[str, Any] = self.spec.to_dict()
        tags = [{"name": name, "description": about} for name, about in TAGS.items()]
        first = ("openapi", "info", "servers")
        return {name: found[name] for name in first} | {"tags": tags} | found | {"tags": tags}

    def _register_error_handlers(self) -> None:
        """None: portal.web.http.errors answers all of them."""

    def _register_responses(self) -> None:
        for status, why in WHY.items():
            told: dict[str, Any] = {
                "description": why,
                "content": {PROBLEM: {"schema": self.ERROR_SCHEMA}},
            }
            if status in LATER:
                told["headers"] = {"Retry-After": HEADERS["Retry-After"]}
            self.spec.components.response(status.name, told, lazy=True)

    def _register_etag_headers(self) -> None:
        """None are sent."""

    def _register_pagination_header(self) -> None:
        """Pages are told in the data."""
