"""What all responses share: the envelope, pages of lists, and problem details with their kinds."""

from functools import cache
from typing import Any, Literal

import marshmallow as ma
from marshmallow import fields

from portal.catalog.term_catalog import TermCatalog
from portal.ledger.types import Reason
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import REASONS, explain
from portal.web.api.fields import QueryInteger, described, one_of

ProblemKind = Literal[
    "malformed",
    "no-pass",
    "form-token",
    "key-reused",
    "silent",
    "refused",
    "captcha",
    "window-ended",
]

# The kinds of problems with their own `type`: their statuses, and the text of the page.
PROBLEM_KINDS: dict[ProblemKind, tuple[str, str]] = {
    "malformed": ("400, 404, 422", "Fields are not valid, or name nothing offered: see `errors`."),
    "no-pass": (
        "403",
        "The header `Fairseat-Pass` has no access token of the waiting room that is good for you.",
    ),
    "form-token": ("400", "A session needs the header `X-CSRFToken`: see `GET /api/v1/me`."),
    "key-reused": ("400", "The idempotency key was used for another request within the last day."),
    "silent": (
        "503",
        "It may have been decided: send it again with the `Idempotency-Key` of this answer.",
    ),
    "refused": ("409", "It was decided, and all of it refused: `data` has reasons and receipts."),
    "captcha": ("422", "The waiting room needs a solution of a `GET /api/v1/captcha` challenge."),
    "window-ended": ("409", "The window has ended, and its waiting room with it."),
}


def problem_type(kind: ProblemKind) -> str:
    """Return the `type` of a problem: the address of its explanation."""
    return f"/api/docs#{kind}"


class Answer(ma.Schema):
    """A part of a response: every field is always present, and there are no others."""

    class Meta:
        """Document that there are no other fields."""

        unknown = ma.RAISE

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:  # noqa: ARG002
        """Mark each field as always present, and as one that requests never send."""
        field_obj.required = field_obj.dump_only = True


class Body(ma.Schema):
    """The JSON body of a request; refuses unknown fields."""

    class Meta:
        """Refuse other fields."""

        unknown = ma.RAISE


class FieldError(Answer):
    where = one_of("body", "query", "header", data_key="in")
    pointer = described(fields.String, "The field, as a JSON pointer.")
    message = fields.String()


class Problem(ma.Schema):
    """Problem details (RFC 9457), with the `success` and `message` of every response."""

    type = described(fields.String, "The kind of problem.", required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = described(fields.String, "What to do about it.", required=True)
    instance = fields.String(required=True)
    correlation = described(fields.String, "The code of this request, for support.", required=True)
    success = fields.Boolean(required=True, metadata={"enum": [False]})
    message = fields.String(required=True)
    errors = fields.List(fields.Nested(FieldError))
    scope = described(fields.String, "The scope that the access token lacks.")
    data = described(fields.Dict, "The decision, where one was made.")


class ReasonSchema(Answer):
    code = described(fields.String, f"One of {', '.join(sorted(REASONS))}.")
    message = fields.String()


@cache
def envelope(data: type[ma.Schema]) -> type[ma.Schema]:
    """Return the schema of a response with such data."""
    parts: dict[str, fields.Field[Any]] = {
        "success": fields.Boolean(),
        "message": fields.String(),
        "data": fields.Nested(data),
    }
    return Answer.from_dict(parts, name=f"{data.__name__}Answer")


def answer(data: Any, message: str = "") -> dict[str, Any]:
    """Return the envelope of a request that succeeded."""
    return {"success": True, "message": message, "data": data}


def reasons_in_words(
    reasons: tuple[Reason, ...], catalog: TermCatalog, section: int, swapped: int = 0
) -> list[dict[str, str]]:
    """Return reasons about a section as codes and sentences.

    `swapped` is the section to drop in a swap.
    """
    context = RefusalContext(catalog, catalog.section(section), swap_out=swapped)
    return [{"code": each.code, "message": each.text} for each in explain(reasons, context)]


# Lists that come in pages

PAGE, LARGEST_PAGE, LAST_PAGE = 40, 100, 100_000


class PageQuery(ma.Schema):
    page = QueryInteger(1, LAST_PAGE, load_default=1)
    per_page = QueryInteger(1, LARGEST_PAGE, load_default=PAGE)


class Page(Answer):
    page = fields.Integer()
    per_page = fields.Integer()
    pages = fields.Integer()
    total = fields.Integer()


def page_of(query: dict[str, Any], total: int) -> dict[str, Any]:
    """Return the fields of Page for a list of so many rows."""
    page, size = query["page"], query["per_page"]
    return {"page": page, "per_page": size, "pages": -(-total // size), "total": total}
