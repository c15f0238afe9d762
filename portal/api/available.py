"""GET /sections/available: what there is to choose from."""

from typing import Any

import marshmallow as ma
from marshmallow import fields

from portal.api import known
from portal.api.entry import bp
from portal.api.examples import SECTION
from portal.api.fields import Id, Whole, Yes
from portal.api.operations import about, asks, gives
from portal.api.schemas import Said, said
from portal.api.sections import Section, as_yours, shown
from portal.api.windows import ANSWERS, answer, window_id
from portal.api.wrongs import so_long
from portal.catalog.search import LONGEST, Query
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.ledger.types import SeatCounts
from portal.people.profile import profile
from portal.seats import rules
from portal.web.http.access import signed_in, visitor
from portal.windows.phases import Phase, shows

PAGE = 40
LARGEST_PAGE = 100
LAST_PAGE = 100_000
WHEN = "Of your windows; students are shown sections while it is `open`."


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
    answer = fields.String(metadata={"enum": ANSWERS, "description": WHEN})
    sentence = fields.String()
    window_id = fields.Integer(allow_none=True)
    sections = fields.List(fields.Nested(Section))
    page = fields.Integer()
    per_page = fields.Integer()
    pages = fields.Integer()
    total = fields.Integer()
    total_sections = fields.Integer(metadata={"description": "The same as `total`."})
    total_available_seats = fields.Integer(
        metadata={"description": "Seats `available` in all that was found."}
    )


EXAMPLE = {
    "answer": "open",
    "sentence": "5 minutes until it ends",
    "window_id": 12,
    "sections": [SECTION],
    "page": 1,
    "per_page": PAGE,
    "pages": 1,
    "total": 1,
    "total_sections": 1,
    "total_available_seats": 2,
}


@bp.get("/sections/available")
@signed_in
@asks(Asked)
@about("catalogue", [404])
@gives(Sections, example=EXAMPLE, headers=[known.HEADER])
def available(asked: dict[str, Any]) -> dict[str, Any]:
    """The open sections of a semester with their seats: those of courses that are for you.

    A student is shown none unless their window is open: `answer` says which of the four it is.
    """
    offered = catalog_of(asked["semester_id"])
    now = known.phase_of(offered.term.id)
    counts = known.seats(offered.term.id)
    found = _found(offered, asked, counts) if _listed(now) else []
    page, size = asked["page"], asked["per_page"]
    sections = shown(offered, found[(page - 1) * size : page * size])
    told = {"sections": list(sections.values()), "page": page, "per_page": size}
    told |= {"pages": -(-len(found) // size), "total": len(found), "total_sections": len(found)}
    free = sum(max(0, counts[card.id].open) for card in found if card.id in counts)
    told |= {"total_available_seats": free, "window_id": window_id(now)}
    return said(told | answer(now), known.note() or ("" if _listed(now) else now.sentence))


def _listed(now: Phase) -> bool:
    """Whether the visitor is shown sections at all; teachers and admins always are."""
    who = visitor()
    staff = "admin" in who.roles or not who.student_id
    return staff or shows(now, to_register=True)


def _found(
    offered: TermCatalog, asked: dict[str, Any], counts: dict[int, SeatCounts]
) -> list[SectionView]:
    text = " ".join(asked["q"].replace("\0", "").split())
    seats = as_yours(offered, offered.sections, counts) if asked["free"] else None
    found = offered.search(Query(text=text, open_only=asked["free"]), seats)
    course, student = asked.get("course_id"), visitor().student_id
    who = profile(student) if student else None
    return [
        card
        for card in found
        if course in {None, card.course_id}
        and (rules.visible(who, card) if who else card.status == "OPEN")
    ]
