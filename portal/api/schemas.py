"""What every answer has in common."""

from datetime import datetime
from functools import cache
from typing import Any

import marshmallow as ma
from flask.json.provider import DefaultJSONProvider
from marshmallow import fields


class Json(DefaultJSONProvider):
    """Writes moments as the schemas do (ISO 8601), where data stand in a problem."""

    @staticmethod
    def default(value: Any) -> Any:
        """What JSON has no word for."""
        if isinstance(value, datetime):
            return value.isoformat()
        return DefaultJSONProvider.default(value)


class Said(ma.Schema):
    """A part of an answer: each of its fields is always there."""

    class Meta:
        """As the document tells it: nothing else is ever there."""

        unknown = ma.RAISE

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:  # noqa: ARG002
        """Require the field."""
        field_obj.required = True


class Body(ma.Schema):
    """A body: what it does not know is refused."""

    class Meta:
        """Nothing else is taken."""

        unknown = ma.RAISE


class Wrong(Said):
    """One thing that is wrong with a request."""

    where = fields.String(
        data_key="in", metadata={"enum": ["body", "query", "header"], "description": "Where."}
    )
    pointer = fields.String(metadata={"description": "The field, as a JSON pointer."})
    message = fields.String()


class Problem(ma.Schema):
    """Problem details (RFC 9457), and what every answer of ours has."""

    type = fields.String(required=True, metadata={"description": "A name of this kind of problem."})
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    detail = fields.String(required=True, metadata={"description": "What to do about it."})
    instance = fields.String(required=True)
    correlation = fields.String(
        required=True, metadata={"description": "The code of this request, for the registrar."}
    )
    success = fields.Boolean(required=True, metadata={"enum": [False]})
    message = fields.String(required=True)
    errors = fields.List(
        fields.Nested(Wrong), metadata={"description": "Each thing wrong with the request."}
    )
    scope = fields.String(metadata={"description": "What the access token lacks."})
    data = fields.Dict(metadata={"description": "Of what was refused: all that was decided."})


@cache
def answer_of(data: type[ma.Schema]) -> type[ma.Schema]:
    """The schema of an answer that carries such data."""
    return Said.from_dict(
        {
            "success": fields.Boolean(),
            "message": fields.String(),
            "data": fields.Nested(data),
        },
        name=f"{data.__name__}Answer",
    )


def said(data: Any, message: str = "") -> dict[str, Any]:
    """An answer, of a request that was granted."""
    return {"success": True, "message": message, "data": data}
