"""What the document tells of the health of the portal, whose views are in portal/web/health.py."""

from typing import Any

import marshmallow as ma
from flask import Flask
from marshmallow import fields

from portal.api.docs.document import Document
from portal.api.schemas import Said

STATES = ["healthy", "unhealthy"]
REPLICAS = "How many replicas follow the ledger; null where nobody can say."


class Live(Said):
    status = fields.String(metadata={"enum": ["alive"]})


class Ready(ma.Schema):
    """`ready` for everyone; the rest for this machine, monitors with the token, and admins."""

    ready = fields.Boolean(required=True)
    missing = fields.List(fields.String())
    replicas = fields.Integer(allow_none=True, metadata={"description": REPLICAS})


class Services(Said):
    database = fields.String(metadata={"enum": STATES})
    cache = fields.String(metadata={"enum": STATES})
    queue = fields.String(metadata={"enum": STATES})


class Health(ma.Schema):
    """`status` for everyone; the rest for this machine, monitors with the token, and admins."""

    status = fields.String(required=True, metadata={"enum": STATES})
    timestamp = fields.DateTime()
    version = fields.String()
    services = fields.Nested(Services)
    replicas = fields.Integer(allow_none=True, metadata={"description": REPLICAS})
    dead_letters = fields.Dict(
        fields.String(),
        fields.Integer(),
        allow_none=True,
        metadata={"description": "Jobs that were given up, by queue; null where nobody can say."},
    )


LOOKS = (
    ("live", Live, "200 while this process answers at all.", ("200",)),
    (
        "ready",
        Ready,
        "200 when ledger, database and workers can serve; else 503. `missing` is for insiders.",
        ("200", "503"),
    ),
    (
        "health",
        Health,
        "Whether all is well; for admins and monitors the state of each service too.",
        ("200", "503"),
    ),
)


def document(app: Flask, into: Document) -> None:
    """Tell of them, too."""
    for name, schema, summary, statuses in LOOKS:
        operation: dict[str, Any] = {
            "operationId": name,
            "summary": summary,
            "tags": ["health"],
            "security": [],
            "responses": {
                status: {
                    "description": "All is well." if status == "200" else "Something is missing.",
                    "content": {"application/json": {"schema": schema}},
                }
                for status in statuses
            },
        }
        rule = next(app.url_map.iter_rules(f"health.{name}"))
        into.spec.path(rule=rule, operations={"get": operation})
