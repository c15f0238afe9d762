"""GET /sections/available: what there is to choose from."""

from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.access import signed_in, visitor
from portal.api.entry import bp
from portal.api.examples import SECTION
from portal.api.fields import Id, Whole, Yes
from portal.api.operations import about, asks, gives
from portal.api.schemas import Said, said
from portal.api.sections import Section, as_yours, shown
from portal.api.wrongs import so_long
from portal.backend import backend
from portal.catalog.board import Board, Card, board
from portal.catalog.query import LONGEST, Query
from portal.people.profile import profile
from portal.seats import rules

PAGE = 40
LARGEST_PAGE = 100
LAST_PAGE = 100_000


class Asked(ma.Schema):
    semester_id = Id(text=True, required=True)
    course_id = Id(text=True)
    q = fields.String(
        validate=so_long(0, LONGEST),
        load_default="",
        metadata={"description": "Words: a code, a title, a name, a CRN."},
    )
    free = Yes(
        text=True,
        load_default=False,
        metadata={"description": "Only those of which you could have a seat now."},
    )
    page = Whole(1, LAST_PAGE, text=True, load_default=1)
    per_page = Whole(1, LARGEST_PAGE, text=True, load_default=PAGE)


class Sections(Said):
    sections = fields.List(fields.Nested(Section))
    page = fields.Integer()
    per_page = fields.Integer()
    pages = fields.Integer()
    total = fields.Integer()


EXAMPLE = {"sections": [SECTION], "page": 1, "per_page": PAGE, "pages": 1, "total": 1}


@bp.get("/sections/available")
@signed_in
@asks(Asked)
@about("catalogue", [404])
@gives(Sections, example=EXAMPLE)
def available(asked: dict[str, Any]) -> dict[str, Any]:
    """The open sections of a semester with their seats: those of courses that are for you."""
    offered = board(asked["semester_id"])
    found = _found(offered, asked)
    page, size = asked["page"], asked["per_page"]
    sections = shown(offered, found[(page - 1) * size : page * size])
    counted = {"pages": -(-len(found) // size), "total": len(found)}
    return said({"sections": list(sections.values()), "page": page, "per_page": size} | counted)


def _found(offered: Board, asked: dict[str, Any]) -> list[Card]:
    text = " ".join(asked["q"].replace("\0", "").split())
    seats = backend().ledger.seats(offered.term.id) if asked["free"] else None
    seats = as_yours(offered, offered.cards, seats) if seats else None
    found = offered.search(Query(text=text, open_only=asked["free"]), seats)
    course, student = asked.get("course_id"), visitor().student_id
    who = profile(student) if student else None
    return [
        card
        for card in found
        if course in {None, card.course_id}
        and (rules.visible(who, card) if who else card.status == "OPEN")
    ]
