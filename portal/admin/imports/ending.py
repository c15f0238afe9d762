"""Ending an import of which seats are left that no worker can give."""

from flask import Blueprint, abort, request
from flask.typing import ResponseReturnValue

from portal.admin.operations import asking
from portal.admin.operations.asking import Question
from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.core.db import transaction
from portal.core.i18n import _, _n, translated
from portal.exchange.importing.models import Import
from portal.exchange.importing.seating import ending
from portal.web.http.access import requires, visitor

bp = Blueprint("imports_end", __name__, url_prefix="/imports")


@bp.get("/<int:import_id>/end")
@requires("admin")
def ask(import_id: int) -> ResponseReturnValue:
    """What ending it would mean."""
    found, left = _find(import_id)
    return _question(found, left, Reading(), 200)


@bp.post("/<int:import_id>/end")
@requires("admin")
def do(import_id: int) -> ResponseReturnValue:
    """End it, for a reason that is kept."""
    found, left = _find(import_id)
    reading = Reading()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return _question(found, left, reading, 422)
    with transaction() as session:
        ended = ending.end(session, import_id, visitor().id, reason)
    if not ended:
        reading.wrong("", _("That can't be done any more: a worker is at it, or it is done."))
        return _question(found, left, reading, 409)
    return asking.done(
        _("The import was ended. The seats that were left are named below."), _back(found)
    )


def _find(import_id: int) -> tuple[Import, int]:
    with transaction() as session:
        found = session.get(Import, import_id) if import_id < 2**31 else None
        return found or abort(404), ending.left(session, import_id)


def _question(found: Import, left: int, reading: Reading, status: int) -> ResponseReturnValue:
    if found.state != "seating":
        status = 409
    meaning = _n(
        "%(num)s seat is left and will not be dealt with: the report names it. All else of the"
        " import stays.",
        "%(num)s seats are left and will not be dealt with: the report names them. All else of"
        " the import stays.",
        left,
    )
    facts = [(_("Import"), found.name), (_("What stopped it"), translated(found.error) or "–")]
    question = Question(
        _("End the import without these seats"),
        facts,
        meaning,
        _("End it without them"),
        danger=True,
        back=_back(found),
    )
    return asking.ask(question, reading, status)


def _back(found: Import) -> asking.Back:
    return f"/admin/imports/{found.id}", found.name
