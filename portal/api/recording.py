"""GET /metrics/lag and /projections/health: how late and how well the ledger is recorded."""

from typing import Any

from marshmallow import fields

from portal.api.entry import bp
from portal.api.operations import about, gives
from portal.api.schemas import Said, said
from portal.core.db import transaction
from portal.recorder import status as lags
from portal.recorder.status import SPANS, term_statuses
from portal.web.http.access import requires

LATE = {"description": "Milliseconds from the decision until it was recorded and projected."}
LAG = {
    "span": "5m",
    "events": 4812,
    "failures": 0,
    "p50": 35,
    "p95": 100,
    "p99": 150,
    "slowest": 148,
}
TERM = {
    "semester_id": 7,
    "name": "Fall 2030",
    "status": "well",
    "decided": 90114,
    "recorded": 90114,
    "recorded_at": "2030-11-04T14:00:01+00:00",
    "fenced": False,
    "differences": 0,
    "compared_at": "2030-11-04T13:58:20+00:00",
}


class Span(Said):
    span = fields.String(metadata={"enum": list(SPANS)})
    events = fields.Integer(
        metadata={"description": "Decisions about students; imports and set-up are not measured."}
    )
    failures = fields.Integer(metadata={"description": "Batches that could not be recorded."})
    p50 = fields.Integer(allow_none=True, metadata=LATE)
    p95 = fields.Integer(allow_none=True, metadata=LATE)
    p99 = fields.Integer(allow_none=True, metadata=LATE)
    slowest = fields.Integer(allow_none=True, metadata=LATE)


class LagData(Said):
    spans = fields.List(fields.Nested(Span))


class Projection(Said):
    semester_id = fields.Integer()
    name = fields.String()
    status = fields.String(metadata={"enum": ["well", "behind", "differs", "fenced"]})
    decided = fields.Integer(metadata={"description": "Events of the ledger."})
    recorded = fields.Integer(metadata={"description": "Events that the read models are at."})
    recorded_at = fields.DateTime(allow_none=True)
    fenced = fields.Boolean(metadata={"description": "Nothing is decided until it is restored."})
    differences = fields.Integer(
        metadata={"description": "Between ledger, event log and read models, as last compared."}
    )
    compared_at = fields.DateTime(allow_none=True)


class Projections(Said):
    projections = fields.List(fields.Nested(Projection))


@bp.get("/metrics/lag")
@requires("admin")
@about("health")
@gives(LagData, example={"spans": [LAG]})
def lag() -> dict[str, Any]:
    """How late decisions were recorded, lately and within the last month; for admins."""
    with transaction() as session:
        return said({"spans": [lags.lags_over(session, span) for span in SPANS]})


@bp.get("/projections/health")
@requires("admin")
@about("health")
@gives(Projections, example={"projections": [TERM]})
def projections() -> dict[str, Any]:
    """How far each semester is recorded, and whether ledger and record agree; for admins."""
    return said({"projections": term_statuses()})
