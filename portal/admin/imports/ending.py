"""A page to end an import before all of its enrollments are applied."""

from flask import Blueprint, abort
from flask.typing import ResponseReturnValue

from portal.core.db import transaction
from portal.core.i18n import _, _n, translated
from portal.exchange.importing import enrollments
from portal.exchange.importing.models import Import
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.http.access import requires, visitor

bp = Blueprint("imports_end", __name__, url_prefix="/imports")


@bp.route("/<int:import_id>/end", methods=["GET", "POST"])
@requires("admin")
def end(import_id: int) -> ResponseReturnValue:
    """End an import without the seats that are left."""
    with transaction() as session:
        found = session.get(Import, import_id) if import_id < 2**31 else None
        found = found or abort(404)
        left = enrollments.left(session, import_id)
    address = f"/admin/imports/{import_id}"
    too_late = _("This is no longer possible: a worker is busy with it, or it is done.")

    def act(reason: str) -> ResponseReturnValue:
        with transaction() as session:
            ended = enrollments.end(session, import_id, visitor().id, reason)
        if not ended:
            raise NotPossible(too_late)
        return done(
            _("The import was ended. The enrollments that were left are listed below."), address
        )

    page = Confirmation(
        title=_("End the import without these seats"),
        button=_("End it without them"),
        back=(address, found.name),
        facts=[(_("Import"), found.name), (_("What stopped it"), translated(found.error) or "–")],
        meaning=[
            _n(
                "%(num)s seat is left and will not be dealt with: the report names it. All else of"
                " the import stays.",
                "%(num)s seats are left and will not be dealt with: the report names them. All"
                " else of the import stays.",
                left,
            )
        ],
        danger=True,
        refusal="" if found.state == "seating" else too_late,
    )
    return confirm(page, act)
