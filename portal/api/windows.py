"""GET /windows: when one may register, and the ids that the waiting room goes by."""

from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.access import signed_in, visitor
from portal.api.entry import bp
from portal.api.fields import Id
from portal.api.operations import about, asks, gives
from portal.api.schemas import Said, said
from portal.backend import backend
from portal.catalog.board import board
from portal.people.profile import profile
from portal.record.fact import moment
from portal.seats import desk
from portal.seats.answers import WindowView
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
@gives(Windows, example=EXAMPLE)
def windows(asked: dict[str, Any]) -> dict[str, Any]:
    """The selection windows of a semester; a student is told of those for them alone."""
    term, student = board(asked["semester_id"]).term.id, visitor().student_id
    found = desk.windows_of(profile(student), term) if student else desk.windows(term)
    now = backend().ledger.now()
    mine = phase(found, now)
    about = {"window_id": mine.window.id if mine.window else None, "semester_id": term}
    return said(_answer(mine) | about | {"now": moment(now), "windows": _each(found, now)})


def _each(found: list[WindowView], now: int) -> list[dict[str, Any]]:
    return [
        {
            "window_id": each.id,
            "name": each.name,
            "opens_at": moment(each.opens),
            "closes_at": moment(each.closes),
            "state": each.state,
            **_answer(phase([each], now)),
        }
        for each in found
    ]


def _answer(found: Phase) -> dict[str, Any]:
    return {"answer": found.kind, "sentence": found.sentence}
