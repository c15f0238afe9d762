"""Applications that wait for the visitor: for a department, or for consent to a section."""

from flask import Blueprint, abort, flash
from flask.typing import ResponseReturnValue

from portal.applications import listing, stages
from portal.applications.service import REFUSED
from portal.people.roles import Right
from portal.web.application_decisions import LARGEST, Desk
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("applications", __name__, url_prefix="/applications")

DESK = Desk("instructor.applications", limited=True)


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


@bp.get("/all.csv")
@requires(Right.TEACH)
def download_csv() -> ResponseReturnValue:
    """Return what waits for the visitor and matches the filters as a CSV file."""
    return DESK.export()


@bp.get("/<int:application_id>")
@requires(Right.TEACH)
def show(application_id: int) -> ResponseReturnValue:
    """Render an application that waits for the visitor; 404 for any other."""
    return DESK.show(application_id)


@bp.post("/<int:application_id>")
@requires(Right.TEACH)
def decide(application_id: int) -> ResponseReturnValue:
    """Approve, decline or ask for more, once."""
    if _is_second_press(application_id):
        flash(str(REFUSED["decided"]))
        return go(DESK.index_address)
    return DESK.decide(application_id)


@bp.get("/<int:application_id>/documents/<int:document_id>")
@requires(Right.TEACH)
def read_document(application_id: int, document_id: int) -> ResponseReturnValue:
    """Return a checked document of an application that waits for the visitor."""
    return DESK.document(application_id, document_id)


@bp.get("/<int:application_id>/documents/<int:document_id>/pages/<int:page>.png")
@requires(Right.TEACH)
def show_page(application_id: int, document_id: int, page: int) -> ResponseReturnValue:
    """Return a page of such a document as a picture."""
    return DESK.document_page(application_id, document_id, page)


def _is_second_press(application_id: int) -> bool:
    """Return whether the visitor has decided it, so that it no longer waits for them."""
    if application_id >= LARGEST or listing.one(application_id, visitor().id):
        return False
    return listing.has_decided(application_id, visitor().id)
