"""Read models, for programs: how they stand, and their rebuild from the event log."""

from typing import Any

from marshmallow import fields

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core.bulkheads import check_background_queue
from portal.core.i18n import _
from portal.people.models import ApiRequest
from portal.people.roles import Right
from portal.recorder.consistency import rebuild_runs
from portal.recorder.status import term_statuses
from portal.web.api.admin_changes import SEMESTER, Act, Change, program_change
from portal.web.api.blueprint import bp
from portal.web.api.fields import Moment, described, one_of
from portal.web.api.operations import Projection
from portal.web.api.schemas import Answer, answer, envelope
from portal.web.http.access import needs_scope, requires, visitor

SCOPE = "read-models"


class Rebuild(Answer):
    rebuild_id = fields.Integer(attribute="id")
    state = one_of("pending", "done", "failed")
    requested_at = Moment()
    done_at = Moment(allow_none=True, metadata={"description": "Null while it is not done."})
    events = described(fields.Integer, "Replayed events.", allow_none=True)
    changed = described(fields.Integer, "Rows that were different.", allow_none=True)


class ReadModels(Answer):
    projection = fields.Nested(Projection, allow_none=True)
    rebuilds = fields.List(fields.Nested(Rebuild))


@bp.get(f"{SEMESTER}/read-models", tags=["administration"])
@requires(Right.CALL_ADMIN_API)
@needs_scope(SCOPE)
@bp.response(200, envelope(ReadModels))
@bp.alt_response(404, response="NOT_FOUND")
def read_models_state(semester_id: int) -> dict[str, Any]:
    """Return how the read models of a semester stand, and their last rebuilds."""
    term = catalog_of(semester_id).term.id
    found = [each for each in term_statuses() if each.semester_id == term]
    rebuilds = rebuild_runs.latest(term)
    return answer({"projection": found[0] if found else None, "rebuilds": rebuilds})


@program_change(f"{SEMESTER}/read-models/rebuild", SCOPE, Change, Rebuild, status=202)
def rebuild_read_models(body: dict[str, Any], semester_id: int) -> Act:
    """Have a worker make the read models of a semester again from the event log.

    Pages and registration go on meanwhile. Only rows that differ are written. While a rebuild of
    the semester is pending, the answer is that one.
    """
    term = catalog_of(semester_id).term.id

    def act(_request: ApiRequest) -> tuple[Any, str]:
        check_background_queue(backend().redis)
        return rebuild_runs.request(term, visitor().id, body["reason"].strip()), _("Started.")

    return act
