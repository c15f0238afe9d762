"""GET /windows: when one may register, and the ids that the waiting room goes by."""

from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.api import known
from portal.api.entry import bp
from portal.api.fields import Id
from portal.api.operations import about, asks, gives
from portal.api.schemas import Said, said
from portal.catalog.term_catalog import catalog_of
from portal.ledger.types import WindowView
from portal.recorder.events import moment
from portal.web.http.access import signed_in
from portal.windows.phases import Phase, phase

ANSWERS = ["unscheduled", "before", "open", "ended"]
ONE = {
    "window_id": 12,
    "name": "Selection",
    "opens_at": "2030-08-01T13:00:00+00:00",
    "closes_at": "2030-08-08T21:00:00+00:00",
    "state": "scheduled",
    "answer": "before",
    "sentence": "Begins in 5 minutes",
}
EXAMPLE = {
    "semester_id": 7,
    "now": "2030-08-01T12:55:00.250000+00:00",
    "answer": "before",
    "sentence": "Begins in 5 minutes",
    "window_id": 12,
    "windows": [ONE],
}


class Asked(ma.Schema):
    semester_id = Id(text=True, required=True)


class Window(Said):
    window_id = fields.Integer()
    name = fields.String()
    opens_at = fields.DateTime()
    closes_at = fields.DateTime(metadata={"description": "The first moment that is too late."})
    state = fields.String(metadata={"enum": ["scheduled", "canceled", "closed"]})
    answer = fields.String(metadata={"enum": ANSWERS})
    sentence = fields.String()


class Windows(Said):
    semester_id = fields.Integer()
    now = fields.DateTime(metadata={"description": "The clock that decides."})
    answer = fields.String(metadata={"enum": ANSWERS, "description": "For you, all in all."})
    sentence = fields.String()
    window_id = fields.Integer(allow_none=True, metadata={"description": "What it is about."})
    windows = fields.List(fields.Nested(Window))


@bp.get("/windows")
@signed_in
@asks(Asked)
@about("catalogue", [404])
@gives(Windows, example=EXAMPLE, headers=[known.HEADER])
def windows(asked: dict[str, Any]) -> dict[str, Any]:
    """The selection windows of a semester; a student is told of those for them alone."""
    term = catalog_of(asked["semester_id"]).term.id
    found, mine = known.windows(term), known.phase_of(term)
    about = {"semester_id": term, "now": moment(mine.now), "windows": _each(found, mine.now)}
    return said(answer(mine) | {"window_id": window_id(mine)} | about, known.note())


def answer(found: Phase) -> dict[str, Any]:
    """Which of the four answers it is, and the same in words."""
    return {"answer": found.kind, "sentence": found.sentence}


def window_id(found: Phase) -> int | None:
    """The window that the answer is about."""
    return found.window.id if found.window else None


def _each(found: list[WindowView], now: int) -> list[dict[str, Any]]:
    return [
        {
            "window_id": each.id,
            "name": each.name,
            "opens_at": moment(each.opens),
            "closes_at": moment(each.closes),
            "state": each.state,
            **answer(phase([each], now)),
        }
        for each in found
    ]
