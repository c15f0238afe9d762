"""GET /me: who is asking."""

from typing import Any

from flask import g
from flask_wtf.csrf import generate_csrf
from marshmallow import fields

from portal.api.entry import bp
from portal.api.operations import about, gives
from portal.api.schemas import Said
from portal.people.keys import SCOPES
from portal.web.http import authentication
from portal.web.http.access import signed_in, visitor

EXAMPLE = {
    "id": 17,
    "name": "Ada",
    "roles": ["student"],
    "student_id": 5,
    "teacher_ids": [],
    "scopes": ["read", "register"],
    "csrf_token": None,
}


class Me(Said):
    id = fields.Integer(metadata={"description": "Of the account."})
    name = fields.String()
    roles = fields.List(fields.String(metadata={"enum": ["admin", "instructor", "student"]}))
    student_id = fields.Integer(allow_none=True)
    teacher_ids = fields.List(
        fields.Integer(), metadata={"description": "Of the teachers who share the account."}
    )
    scopes = fields.List(fields.String(metadata={"enum": list(SCOPES)}))
    csrf_token = fields.String(
        allow_none=True, metadata={"description": "For X-CSRFToken, where a session asks."}
    )


@bp.get("/me")
@signed_in
@about("you")
@gives(Me, example=EXAMPLE, plain=True)
def me() -> dict[str, Any]:
    """Who is asking, as what, and what they may do here."""
    who = visitor()
    return {
        "id": who.id,
        "name": who.name,
        "roles": sorted(who.roles),
        "student_id": who.student_id,
        "teacher_ids": sorted(who.teacher_ids),
        "scopes": sorted(g.get("scopes", SCOPES)),
        "csrf_token": None if authentication.bearer() else generate_csrf(),
    }
