"""The blueprint of the API: strict parsing, errors as problems, and shared documentation.

Each operation documents its own responses. The blueprint adds the problems that any request can
meet, the ways to authenticate, and the operation's id.
"""

import json
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, NoReturn, cast

import flask_smorest
from flask import Request, current_app, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from marshmallow import ValidationError
from webargs import core
from webargs.flaskparser import FlaskParser, is_json_request
from werkzeug.exceptions import Forbidden, UnsupportedMediaType

from portal.core.errors import Refused
from portal.core.i18n import _, _l
from portal.people.api_requests import Refusal
from portal.people.roles import Right
from portal.web.api.schemas import problem_type
from portal.web.http import authentication
from portal.web.http.access import rule_of
from portal.web.http.errors import MESSAGES, Message, problem
from portal.web.http.extensions import csrf

LOCATIONS = {"json": "body", "query": "query", "headers": "header"}
PROBLEMS_OF_ALL = (400, 401, 403, 429, 500, 503)
PROBLEMS_OF_BODIES = (408, 409, 413, 415, 422)
TO_READ: list[dict[str, list[str]]] = [{"token": []}, {"session": []}]
TO_CHANGE: list[dict[str, list[str]]] = [{"token": []}, {"session": [], "form": []}]

MALFORMED = Message(
    _l("The request is not valid"),
    _l("See “errors” for each field. Nothing was changed."),
    problem_type("malformed"),
)
NO_FORM_TOKEN = Message(
    _l("The form token is missing"),
    _l(
        "With a session, send the csrf_token from GET /api/v1/me in the X-CSRFToken"
        " header. Or use an access token."
    ),
    problem_type("form-token"),
)
STUDENTS_ALONE = Message(
    _l("Only students can do this"), _l("A student can register only for themselves.")
)


def refused(text: str) -> Message:
    """Return the message of a refusal with its reasons."""
    return Message(_("Refused: nothing was changed"), text, problem_type("refused"))


class InvalidRequest(ValueError):
    """An invalid request, with one error for each field."""

    def __init__(self, errors: list[dict[str, str]], status: int = 422) -> None:
        super().__init__(errors)
        self.errors = errors
        self.status = status


class Parser(FlaskParser):
    """A strict parser that reports all errors of a request at once."""

    def _raw_load_json(self, req: Request) -> Any:
        body = req.get_data(cache=True)
        if not body:
            return core.missing
        if not is_json_request(req):
            raise UnsupportedMediaType
        try:
            return json.loads(body, parse_constant=_refuse_constant)
        # Also numbers and lists that are too long or too deep.
        except (ValueError, RecursionError) as error:
            message = _("This is not valid JSON: %(error)s", error=error)[:200]
            raise InvalidRequest([field_error("", message)], 400) from error

    def handle_error(self, error: ValidationError, *_: Any, **__: Any) -> NoReturn:
        """Raise InvalidRequest with one error for each field."""
        raise InvalidRequest(
            [
                field_error(*each, where=LOCATIONS.get(location, location))
                for location, messages in error.messages_dict.items()
                for each in _flat(messages)
            ]
        )


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """A blueprint that documents what its operations have in common."""

    ARGUMENTS_PARSER = Parser()

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._prepare_doc_cbks.append(self._prepare_common_doc)

    def _store_endpoint_docs(self, endpoint: str, *args: Any, **options: Any) -> None:
        super()._store_endpoint_docs(endpoint, *args, **options)
        for doc in self._docs[endpoint].values():
            if isinstance(doc, dict):
                doc.setdefault("manual_doc", {})["operationId"] = endpoint

    @staticmethod
    def _prepare_common_doc(
        doc: dict[str, Any], _: dict[str, Any], *, method: str, **__: Any
    ) -> dict[str, Any]:
        for status in PROBLEMS_OF_ALL + (PROBLEMS_OF_BODIES if method == "post" else ()):
            doc["responses"].setdefault(status, HTTPStatus(status).name)
        return {**doc, "security": TO_READ if method == "get" else TO_CHANGE}


bp = Blueprint("api", __name__, url_prefix="/api/v1")
csrf.exempt(bp)


def field_error(pointer: str, message: str, where: str = "body") -> dict[str, str]:
    """Return one error of a request: a JSON pointer (RFC 6901) and a message."""
    return {"in": where, "pointer": pointer, "message": _(str(message))}


def invalid(pointer: str, message: str, status: int = 422) -> InvalidRequest:
    """Return the error that a field of the body is wrong."""
    return InvalidRequest([field_error(pointer, message)], status)


@bp.before_request
def _protect() -> None:
    """Require a form token with a session: other sites know neither it nor an access token."""
    if current_app.config["WTF_CSRF_ENABLED"] and authentication.bearer() is None:
        csrf.protect()


@bp.errorhandler(InvalidRequest)
def _invalid(error: InvalidRequest) -> ResponseReturnValue:
    return problem(error.status, MALFORMED, errors=error.errors)


@bp.errorhandler(Refusal)
def _not_possible(refusal: Refusal) -> ResponseReturnValue:
    return problem(409, refused(str(refusal)))


@bp.errorhandler(Refused)
def _refused(refusal: Refused) -> ResponseReturnValue:
    return problem(409, refused(refusal.text))


@bp.errorhandler(CSRFError)
def _no_form_token(_error: CSRFError) -> ResponseReturnValue:
    error = field_error("/X-CSRFToken", str(NO_FORM_TOKEN.title), "header")
    return problem(400, NO_FORM_TOKEN, errors=[error])


@bp.errorhandler(Forbidden)
def _forbidden(_error: Forbidden) -> ResponseReturnValue:
    view = current_app.view_functions[cast("str", request.endpoint)]
    return problem(403, STUDENTS_ALONE if rule_of(view) == {Right.REGISTER} else MESSAGES[403])


def _flat(messages: Any, pointer: str = "") -> Iterator[tuple[str, str]]:
    """Flatten marshmallow's nested messages into pairs of a JSON pointer and a message."""
    if isinstance(messages, Mapping):
        for name, inner in messages.items():
            step = str(name).replace("~", "~0").replace("/", "~1")
            yield from _flat(inner, pointer if name == "_schema" else f"{pointer}/{step}")
    elif isinstance(messages, list):
        for each in messages:
            yield from _flat(each, pointer)
    else:
        yield pointer, str(messages)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")
