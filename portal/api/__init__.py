"""The JSON API; a bearer token or a session, and errors as problem details."""

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue

from portal.access import signed_in, visitor

bp = Blueprint("api", __name__, url_prefix="/api/v1")


@bp.get("/me")
@signed_in
def me() -> ResponseReturnValue:
    """Who is asking, and as what."""
    who = visitor()
    return jsonify(
        id=who.id,
        name=who.name,
        roles=sorted(who.roles),
        student_id=who.student_id,
        teacher_id=who.teacher_id,
    )
