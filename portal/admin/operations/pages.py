"""GET /admin/operations: how the portal runs, moving by itself."""

from functools import partial
from typing import TYPE_CHECKING

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from portal.admin.operations.drawing import PARTS, content, draw
from portal.admin.operations.figures import look
from portal.live import watch
from portal.web.http.access import requires

if TYPE_CHECKING:
    from flask.blueprints import BlueprintSetupState

bp = Blueprint("pages", __name__)


@bp.record_once
def _begin(state: "BlueprintSetupState") -> None:
    watch.drawn_by(partial(draw, state.app.jinja_env))


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Everything at a glance, what is wrong first."""
    return render_template("admin/operations/index.html", parts=PARTS, **content(look()))
