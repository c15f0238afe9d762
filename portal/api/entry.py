"""The door of the API: who may change something, and how errors are told to programs."""

from typing import cast

import flask
import flask_smorest
from flask import current_app, request
from flask.typing import ResponseReturnValue
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import Forbidden

from portal.api.kinds import kind
from portal.api.reading import Malformed, Reader
from portal.core.i18n import _l
from portal.ledger.errors import KeyReused
from portal.web.http import authentication
from portal.web.http.access import rule_of
from portal.web.http.errors import WORDS, Words, problem
from portal.web.http.extensions import csrf

MALFORMED = Words(
    _l("The request makes no sense as it is"),
    _l("The errors name each field. Nothing was changed."),
    kind("malformed"),
)
UNPROTECTED = Words(
    _l("The form token is missing"),
    _l("With a session, send the csrf_token of GET /api/v1/me as X-CSRFToken; or use a token."),
    kind("form-token"),
)
REUSED = Words(
    _l("This idempotency key stood for something else"),
    _l("Take a new key. What was decided under this one stands."),
    kind("key-reused"),
)
STUDENTS_ALONE = Words(
    _l("Only students may do this"), _l("Each does so for themselves; nobody acts for another.")
)


class Blueprint(flask_smorest.Blueprint):  # type: ignore[misc]
    """The API's blueprint, which reads strictly."""

    ARGUMENTS_PARSER = Reader()


bp: flask.Blueprint = Blueprint("api", __name__, url_prefix="/api/v1", description="Registration")
csrf.exempt(bp)


@bp.before_request
def _protect() -> None:
    """A session needs a form token to change anything: other sites have no access token."""
    if current_app.config["WTF_CSRF_ENABLED"] and authentication.bearer() is None:
        csrf.protect()


@bp.errorhandler(Malformed)
def _malformed(error: Malformed) -> ResponseReturnValue:
    return problem(error.status, MALFORMED, errors=error.errors)


@bp.errorhandler(CSRFError)
def _unprotected(_error: CSRFError) -> ResponseReturnValue:
    wrong = {"in": "header", "pointer": "/X-CSRFToken", "message": str(UNPROTECTED.title)}
    return problem(400, UNPROTECTED, errors=[wrong])


@bp.errorhandler(KeyReused)
def _reused(_error: KeyReused) -> ResponseReturnValue:
    wrong = {"in": "body", "pointer": "/idempotency_key", "message": str(REUSED.title)}
    if "Idempotency-Key" in request.headers:
        wrong |= {"in": "header", "pointer": "/Idempotency-Key"}
    return problem(400, REUSED, errors=[wrong])


@bp.errorhandler(Forbidden)
def _forbidden(_error: Forbidden) -> ResponseReturnValue:
    view = current_app.view_functions[cast("str", request.endpoint)]
    return problem(403, STUDENTS_ALONE if rule_of(view) == {"student"} else WORDS[403])
