"""The lag and the state of the record for operators, and the documentation of the health checks."""

from typing import Any

import marshmallow as ma
from apispec import APISpec
from flask import Flask
from marshmallow import fields

from portal.core.db import transaction
from portal.people.roles import Right
from portal.recorder.status import (
    HOUR_SPANS,
    SPANS,
    STAGES,
    StageLags,
    lags_over,
    stage_lags,
    term_statuses,
)
from portal.web.api.blueprint import bp
from portal.web.api.fields import described, one_of
from portal.web.api.schemas import Answer, answer, envelope
from portal.web.http.access import requires

STATES = ("healthy", "unhealthy")


def _milliseconds() -> fields.Integer:
    metadata = {"description": "Milliseconds from a decision until it was recorded and projected."}
    return fields.Integer(allow_none=True, metadata=metadata)


def _replicas() -> fields.Integer:
    metadata = {"description": "How many replicas follow the ledger; null if that is unknown."}
    return fields.Integer(allow_none=True, metadata=metadata)


class LagSpan(Answer):
    span = one_of(*SPANS)
    events = described(fields.Integer, "Decisions about students; imports are not measured.")
    failures = described(fields.Integer, "Batches that could not be recorded.")
    p50 = _milliseconds()
    p95 = _milliseconds()
    p99 = _milliseconds()
    slowest = _milliseconds()


class Lag(Answer):
    spans = fields.List(fields.Nested(LagSpan))


class StageLag(Answer):
    event = described(fields.String, "Name of the events, such as enrolled.")
    stage = one_of(
        *STAGES,
        metadata={
            "description": "created: read from the journal. recorded: in the event log. projected: "
            "in the read models. failed: each attempt to record that failed."
        },
    )
    events = described(fields.Integer, "Events that reached the stage; imports are not measured.")
    p50 = described(fields.Integer, "Milliseconds from the decision until the stage.")
    p95 = described(fields.Integer, "The 95th percentile of the same.")
    p99 = described(fields.Integer, "The 99th percentile of the same.")
    slowest = described(fields.Integer, "The longest of the same.")


class StageLagSpan(Answer):
    span = one_of(*HOUR_SPANS, metadata={"description": "Whole hours are counted."})
    stages = fields.List(fields.Nested(StageLag))


class StageLagSpans(Answer):
    spans = fields.List(fields.Nested(StageLagSpan))


class Projection(Answer):
    semester_id = fields.Integer()
    name = fields.String()
    status = one_of("well", "behind", "differs", "fenced")
    decided = described(fields.Integer, "Events of the ledger.")
    recorded = described(fields.Integer, "Events in the read models.")
    recorded_at = fields.DateTime(allow_none=True)
    fenced = described(fields.Boolean, "Nothing is decided until the ledger is restored.")
    differences = described(
        fields.Integer, "Between ledger, event log and read models, as last compared."
    )
    compared_at = fields.DateTime(allow_none=True)


class Projections(Answer):
    projections = fields.List(fields.Nested(Projection))


class Live(Answer):
    status = one_of("alive")


class Ready(ma.Schema):
    """`ready` for everyone; the rest for this machine, monitors with the token, and admins."""

    ready = fields.Boolean(required=True)
    missing = fields.List(fields.String())
    replicas = _replicas()


class Services(Answer):
    database = one_of(*STATES)
    cache = one_of(*STATES)
    queue = one_of(*STATES)


class Health(ma.Schema):
    """`status` for everyone; the rest for this machine, monitors with the token, and admins."""

    status = one_of(*STATES, required=True)
    timestamp = fields.DateTime()
    version = fields.String()
    services = fields.Nested(Services)
    replicas = _replicas()
    dead_letters = fields.Dict(
        fields.String(),
        fields.Integer(),
        allow_none=True,
        metadata={"description": "Jobs that failed for good, by queue; null if unknown."},
    )


# The checks in portal/web/monitoring.py: schema, summary, and statuses.
HEALTH_CHECKS: dict[str, tuple[type[ma.Schema], str, tuple[str, ...]]] = {
    "live": (Live, "200 while this process answers at all.", ("200",)),
    "ready": (Ready, "200 when ledger, database and workers can serve; else 503.", ("200", "503")),
    "health": (Health, "The state of all parts, and of each one for insiders.", ("200", "503")),
}


@bp.get("/metrics/lag", tags=["health"])
@requires(Right.SEE_OPERATIONS)
@bp.response(200, envelope(Lag))
def lag() -> dict[str, Any]:
    """Return how late decisions were recorded, recently and in the last month; for admins."""
    with transaction() as session:
        return answer({"spans": [lags_over(session, span) for span in SPANS]})


@bp.get("/metrics/lag/stages", tags=["health"])
@requires(Right.SEE_OPERATIONS)
@bp.response(200, envelope(StageLagSpans))
def lag_by_stage() -> dict[str, Any]:
    """Return how late events reached each stage, by name, in up to a month; for admins."""
    with transaction() as session:
        spans = [
            {"span": name, "stages": [_stage_lag(each) for each in stage_lags(session, span)]}
            for name, span in HOUR_SPANS.items()
        ]
    return answer({"spans": spans})


def _stage_lag(found: StageLags) -> dict[str, Any]:
    percentiles = dict(zip(("p50", "p95", "p99"), found.percentiles, strict=True))
    figures = {"events": found.events, "slowest": found.slowest}
    return {"event": found.name, "stage": found.stage} | figures | percentiles


@bp.get("/projections/health", tags=["health"])
@requires(Right.SEE_OPERATIONS)
@bp.response(200, envelope(Projections))
def projections() -> dict[str, Any]:
    """Return the recorder's progress per semester, and the audit results; for admins."""
    return answer({"projections": term_statuses()})


def document_health_checks(app: Flask, spec: APISpec) -> None:
    """Add the health checks, which are not part of the API's blueprint, to the document."""
    for name, (schema, summary, statuses) in HEALTH_CHECKS.items():
        content = {"application/json": {"schema": schema}}
        texts = {"200": "All is well.", "503": "Something is missing."}
        operation = {
            "operationId": name,
            "summary": summary,
            "tags": ["health"],
            "security": [],
            "responses": {
                each: {"description": texts[each], "content": content} for each in statuses
            },
        }
        rule = next(app.url_map.iter_rules(f"health.{name}"))
        spec.path(rule=rule, operations={"get": operation})
