"""What the changes of programs share: a reason, an idempotency key, one answer for each key."""

from collections.abc import Callable
from functools import reduce, wraps
from typing import Any

import marshmallow as ma
from flask import jsonify, request
from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.types import WindowView
from portal.people import api_requests
from portal.people.models import ApiRequest
from portal.people.roles import Right
from portal.people.student_records import find_by_number
from portal.web.api import idempotency
from portal.web.api.blueprint import bp, invalid
from portal.web.api.fields import LARGEST_ID, characters
from portal.web.api.schemas import Answer, Body, answer, envelope
from portal.web.http.access import needs_scope, requires, visitor
from portal.windows import service

SEMESTER = f"/admin/semesters/<int(min=1, max={LARGEST_ID}):semester_id>"
WINDOW = f"{SEMESTER}/windows/<int(min=1, max={LARGEST_ID}):window_id>"
LONGEST_REASON = 500
View = Callable[..., ResponseReturnValue]
Act = Callable[[ApiRequest], tuple[dict[str, Any], str]]  # returns data and a message


class Change(Body):
    """The body of every change."""

    reason = fields.String(
        required=True,
        validate=characters(1, LONGEST_REASON),
        metadata={"description": "Why; it goes into the audit trail.", "pattern": r"\S"},
    )

    @ma.validates("reason")
    def _not_blank(self, value: str, **_options: Any) -> None:
        if not value.strip() or "\0" in value:
            raise ma.ValidationError(_("Enter a reason."))


def program_post(
    rule: str, scope: str, body: type[Body], result: type[Answer], *, status: int = 200
) -> Callable[[View], View]:
    """Return the decorator of a view that programs with a scope call, with headers and a body."""
    decorators = (
        bp.alt_response(404, response="NOT_FOUND"),
        bp.response(status, envelope(result), headers=idempotency.HEADERS),
        bp.arguments(body),
        bp.arguments(idempotency.KeyHeader, location="headers"),
        needs_scope(scope),
        requires(Right.CALL_ADMIN_API),
        bp.post(rule, tags=["administration"]),
    )

    def decorate(view: View) -> View:
        return reduce(lambda wrapped, decorator: decorator(wrapped), decorators, view)

    return decorate


def program_change(  # noqa: PLR0913  how programs call it, and what is stored
    rule: str,
    scope: str,
    body: type[Body],
    result: type[Answer],
    *,
    status: int = 200,
    stored: Callable[[], dict[str, int]] = dict,
) -> Callable[[Callable[..., Act]], View]:
    """Return the decorator of a change by programs with a scope, which one key makes once.

    The decorated function gets the body and the arguments of the address, and returns what makes
    the change. The answer is stored under the key. `stored` is called at the first try; each try
    gets what it returned in the request's `data`.
    """

    def decorate(prepare: Callable[..., Act]) -> View:
        @wraps(prepare)
        def view(
            headers: dict[str, Any], content: dict[str, Any], **where: int
        ) -> ResponseReturnValue:
            act, key = prepare(content, **where), idempotency.chosen_key(headers, {})

            def change(row: ApiRequest) -> dict[str, Any]:
                found, message = act(row)
                return answer(result().dump(found), message)

            about = [request.endpoint, request.view_args, content]
            found, replayed = api_requests.change_once(visitor().id, key, about, change, **stored())
            return jsonify(found), status, idempotency.headers_of(key, replayed=replayed)

        return program_post(rule, scope, body, result, status=status)(view)

    return decorate


class StudentField(fields.String):
    """The number of a student, as the university gives it."""

    def __init__(self) -> None:
        about = "The number that the university gave the student."
        super().__init__(required=True, validate=characters(1, 60), metadata={"description": about})


def existing_window(semester_id: int, window_id: int) -> WindowView:
    """Return a window of a semester; raise InvalidRequest if it has none of that id."""
    catalog_of(semester_id)
    found = service.find_window(semester_id, window_id)
    if found is None:
        raise invalid("/window_id", _("The semester has no such window."), 404)
    return found


def student_of(number: str) -> int:
    """Return the id of the student with that number; raise InvalidRequest."""
    found = None
    if "\0" not in number:
        with transaction() as session:
            found = find_by_number(session, number)
    if found is None:
        message = _("No student has the number %(number)s.", number=number)
        raise invalid("/student_number", message)
    return found
