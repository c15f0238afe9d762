"""The OpenAPI document, and the page that shows it."""

import re
from http import HTTPStatus
from importlib.metadata import version
from typing import Any

import flask_smorest
from flask import Blueprint, Flask, Response, current_app, json, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape

from portal.people.tokens import PREFIX
from portal.web.api.operations import document_health_checks
from portal.web.api.registration import SectionChoice
from portal.web.api.schemas import PROBLEM_KINDS, Problem
from portal.web.api.waiting_room import RETRY_AFTER
from portal.web.http.access import public

DESCRIPTION = """\
Registration for programs: the same ledger, rules and receipts as on the pages. Each answer is
`{success, message, data}`. Each error is a problem (RFC 9457) with `success` and `message` too.
Times are UTC, ids are whole numbers, credits are numbers such as 1.5.
"""
TAGS = {
    "registration": "Get seats and waitlist positions, drop and leave them, in one step each.",
    "records": "What a student has, and waits for.",
    "catalog": "What there is to choose from, and when.",
    "waiting room": "Fair admission when many come at once.",
    "applications": "Applications of students, and of visiting students.",
    "administration": "For programs of the university, with service tokens.",
    "you": "Who is asking.",
    "health": "For load balancers, open to everyone; and for operators.",
}
PROBLEMS = {
    HTTPStatus.BAD_REQUEST: "The request can't be read, its form token is missing, or its"
    " idempotency key was used for another request: see `errors`.",
    HTTPStatus.UNAUTHORIZED: "You are not logged in, or the access token is not valid.",
    HTTPStatus.FORBIDDEN: "This needs another account, role, scope or access token.",
    HTTPStatus.NOT_FOUND: "It does not exist, or you may not see it.",
    HTTPStatus.METHOD_NOT_ALLOWED: "This address does not take that method.",
    HTTPStatus.REQUEST_TIMEOUT: "The body took too long to arrive.",
    HTTPStatus.CONFLICT: "Refused, with `data` that says why; or the same request is still being"
    " decided (`Retry-After`).",
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: "The body is too large.",
    HTTPStatus.UNSUPPORTED_MEDIA_TYPE: "The body is not JSON.",
    HTTPStatus.UNPROCESSABLE_ENTITY: "Some fields are not valid: see `errors`.",
    HTTPStatus.TOO_MANY_REQUESTS: "Too many requests: wait as long as `Retry-After` says.",
    HTTPStatus.INTERNAL_SERVER_ERROR: "Something broke on our side.",
    HTTPStatus.SERVICE_UNAVAILABLE: "A store is away: repeat the request after `Retry-After`, under"
    " the same idempotency key.",
}
TO_REPEAT = {
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.SERVICE_UNAVAILABLE,
    HTTPStatus.CONFLICT,
}
METHODS = ("get", "post", "delete")
EXAMPLES = {"date": "2030-08-26", "date-time": "2030-08-01T13:00:00+00:00"}
CODE = re.compile(r"`([^`]+)`")
EXTENSION = "openapi"

bp = Blueprint("api_docs", __name__, url_prefix="/api")


class Api(flask_smorest.Api):  # type: ignore[misc]
    """The API and its document; portal/web/http/errors.py handles its errors."""

    DEFAULT_ERROR_RESPONSE_NAME = None
    ERROR_SCHEMA = Problem

    def _register_error_handlers(self) -> None:
        """Register none."""

    def _register_responses(self) -> None:
        for status, description in PROBLEMS.items():
            content = {"application/problem+json": {"schema": self.ERROR_SCHEMA}}
            response: dict[str, Any] = {"description": description, "content": content}
            if status in TO_REPEAT:
                response["headers"] = RETRY_AFTER
            self.spec.components.response(status.name, response, lazy=True)


def start(app: Flask, api_blueprint: flask_smorest.Blueprint) -> None:
    """Register the API, its document and the page that shows it."""
    app.config.update(
        API_TITLE="Fairseat API",
        API_VERSION=version("fairseat"),
        OPENAPI_VERSION="3.1.0",
        API_SPEC_OPTIONS={
            "info": {"description": DESCRIPTION},
            "servers": [{"url": "/"}],
            "tags": [{"name": name, "description": text} for name, text in TAGS.items()],
        },
    )
    api = Api(app)
    for name, scheme in _security_schemes(app.config["SESSION_COOKIE_NAME"]).items():
        api.spec.components.security_scheme(name, scheme)
    api.spec.components.schema("Choice", schema=SectionChoice)
    api.register_blueprint(api_blueprint)
    document_health_checks(app, api.spec)
    document = api.spec.to_dict()
    _add_examples(document)
    app.extensions[EXTENSION] = document
    app.register_blueprint(bp)


@bp.get("/docs")
@public
def page() -> ResponseReturnValue:
    """Render the document for people."""
    document = current_app.extensions[EXTENSION]
    return render_template("api/docs.html", document=document, kinds=PROBLEM_KINDS)


@bp.get("/v1/openapi.json")
@public
def openapi() -> ResponseReturnValue:
    """Return the document for programs."""
    text = json.dumps(current_app.extensions[EXTENSION], sort_keys=False, ensure_ascii=False)
    return Response(text, mimetype="application/json")


@bp.app_template_filter("marked")
def marked(text: str) -> Markup:
    """Return a text with everything between backticks marked as code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped


def _security_schemes(cookie: str) -> dict[str, dict[str, str]]:
    return {
        "token": {
            "type": "http",
            "scheme": "bearer",
            "description": f"A personal access token, `{PREFIX}…`: to read, to register, or both."
            " Or a service token, or a signed token (JWT) from `POST /api/v1/token`.",
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


def _add_examples(document: dict[str, Any]) -> None:
    """Give each JSON body of a request and of a successful response an example of its schema."""
    schemas = document["components"]["schemas"]
    for item in document["paths"].values():
        for operation in (item[method] for method in METHODS if method in item):
            bodies = [operation.get("requestBody", {}), *operation["responses"].values()]
            for content in (each.get("content", {}).get("application/json") for each in bodies):
                if content:
                    content["example"] = _example(content["schema"], schemas)


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """Return a value that fits a schema of the document."""
    if "$ref" in schema:
        schema = schemas[schema["$ref"].rpartition("/")[2]]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], schemas)
    if known := schema.get("examples") or schema.get("enum"):
        return known[0]
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else kinds[0]
    if kind == "object":
        fields = schema.get("properties", {})
        return {name: _example(field, schemas) for name, field in fields.items()}
    if kind == "array":
        return [_example(schema["items"], schemas)]
    if kind == "string":
        return EXAMPLES.get(schema.get("format", ""), "…")
    return kind == "boolean" or max(1, schema.get("minimum", 1))
