"""Applications that wait for the visitor: for a department, or for consent to a section."""

from flask import Blueprint, abort
from flask.typing import ResponseReturnValue

from portal.applications import stages
from portal.people.roles import Right
from portal.web.application_decisions import Desk
from portal.web.http.access import requires, visitor

bp = Blueprint("applications", __name__, url_prefix="/applications")

DESK = Desk("instructor.applications", limited=True)
DESK.add_views(bp, see=Right.TEACH, decide=Right.TEACH)


@bp.before_request
def check_decider() -> None:
    """Answer 403 unless the visitor decides for a department, or for a section, now."""
    if not stages.is_decider(visitor().id):
        abort(403)


@bp.get("")
@requires(Right.TEACH)
def index() -> ResponseReturnValue:
    """Render what waits for the visitor, the longest first."""
    return DESK.queue("instructor/applications.html")
