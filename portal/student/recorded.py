"""What a student can read while the ledger is away: sections and selections as last recorded."""

from collections.abc import Callable
from functools import wraps

from flask import abort, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from sqlalchemy import Select, select

from portal.access import visitor
from portal.catalog.board import board
from portal.catalog.cards import Card
from portal.catalog.query import Query
from portal.db import transaction
from portal.people.profile import profile
from portal.record.models import SectionSeats
from portal.schedule.holdings import from_record
from portal.seats import rules
from portal.seats.errors import LedgerUnavailable
from portal.student.listing import PAGE, classes
from portal.student.scene import titled

View = Callable[..., ResponseReturnValue]


def or_recorded(view: View) -> View:
    """Let a page be read out of PostgreSQL while the ledger is away; parts of pages wait for it."""

    @wraps(view)
    def read(term_id: int) -> ResponseReturnValue:
        try:
            return view(term_id)
        except LedgerUnavailable:
            if request.htmx:
                raise
            return _page(term_id)

    return read


def _page(term_id: int) -> ResponseReturnValue:
    try:
        who, offered = profile(visitor().student_id or 0), board(term_id)
    except LookupError:
        abort(404)
    query = Query.parse(request.args)
    fitting = [card for card in offered.search(query) if rules.visible(who, card)]
    shown, standing = fitting[:PAGE], from_record(term_id, who.student)
    with transaction() as session:
        counts = {row.section_id: row for row in session.scalars(_counts(term_id, shown))}
    return render_template(
        "student/recorded.html",
        term=offered.term,
        query=query,
        total=len(fitting),
        shown=shown,
        held=offered.some([each.section for each in standing.enrolled]),
        waiting=offered.some([each.section for each in standing.waiting]),
        free={each: _free(row) for each, row in counts.items()},
        title=lambda card: titled(offered, card),
        classes=classes,
    )


def _counts(term_id: int, cards: list[Card]) -> Select[SectionSeats]:
    mine = SectionSeats.section_id.in_([card.id for card in cards])
    return select(SectionSeats).where(SectionSeats.term_id == term_id, mine)


def _free(row: SectionSeats) -> int:
    """Seats that anybody could have had then; what a pool has left is known to the ledger alone."""
    return max(0, row.capacity - row.prior - row.enrolled - row.kept)
