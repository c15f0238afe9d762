"""GET /semesters: what can be registered for at all."""

from typing import Any

from marshmallow import fields

from portal.api.entry import bp
from portal.api.operations import about, gives
from portal.api.schemas import Said, said
from portal.catalog.term_catalog import offered_terms
from portal.web.http.access import signed_in

EXAMPLE = {
    "semester_id": 7,
    "name": "Fall 2030",
    "starts_on": "2030-08-26",
    "ends_on": "2030-12-20",
    "credit_limit": 21,
    "drops_per_day": 3,
}


class Semester(Said):
    semester_id = fields.Integer(attribute="id")
    name = fields.String()
    starts_on = fields.Date()
    ends_on = fields.Date()
    credit_limit = fields.Float(metadata={"description": "The most credits, unless you have more."})
    drops_per_day = fields.Integer()


class Semesters(Said):
    semesters = fields.List(fields.Nested(Semester))


@bp.get("/semesters")
@signed_in
@about("catalogue")
@gives(Semesters, example={"semesters": [EXAMPLE]})
def semesters() -> dict[str, Any]:
    """The semesters, the latest first."""
    return said({"semesters": offered_terms()})
