"""The rooms of a term: their week, double bookings, and their number of seats."""

from collections import defaultdict
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import rooms
from portal.catalog.models import Room
from portal.catalog.rooms import RoomUse
from portal.catalog.section_fields import MOST_SEATS
from portal.catalog.term_catalog import catalog_of, current_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.people.roles import Right
from portal.web.confirm import Confirmation, confirm, seen_number
from portal.web.forms import Form, NumberField, ReasonField
from portal.web.http.access import requires, visitor
from portal.web.paging import count_pages, page_number, search_text

bp = Blueprint("rooms", __name__, url_prefix="/terms/<int:term_id>/rooms")

PAGE = 50
MOST_RIVALS = 5  # sections at the same time that a row names


class SeatsForm(Form):
    """The number of seats of a room, and why it changes."""

    seats = NumberField(
        _l("Seats"),
        most=MOST_SEATS,
        required=False,
        description=_l("Leave it blank if you don’t know."),
    )
    reason = ReasonField()


@bp.get("")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def index(term_id: int) -> ResponseReturnValue:
    """Render the rooms that match the search, or those with problems alone."""
    offered, wanted, problems = catalog_of(term_id), search_text(), "problems" in request.args
    with transaction() as session:
        found = rooms.use_of(offered, rooms.search(session, wanted))
    if problems:
        found = [each for each in found if each.problems]
    pages = count_pages(len(found), PAGE)
    page = page_number(pages)
    return render_template(
        "admin/rooms.html",
        term=offered.term,
        terms=[each for each in current_terms() if each.id != term_id],
        wanted=wanted,
        problems=problems,
        found=found[(page - 1) * PAGE : page * PAGE],
        page=page,
        pages=pages,
    )


@bp.get("/<int:room_id>")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def show(term_id: int, room_id: int) -> ResponseReturnValue:
    """Render a room: what meets there and when, and what can't."""
    used = _room(term_id, room_id)
    rivals: defaultdict[Any, list[Any]] = defaultdict(list)
    for pair in used.double_bookings:
        for one, other in (pair, pair[::-1]):
            if len(rivals[one]) < MOST_RIVALS:
                rivals[one].append(other[0])
    return render_template(
        "admin/room_week.html", term=catalog_of(term_id).term, room=used, rivals=rivals
    )


@bp.route("/<int:room_id>/seats", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS)
def set_seats(term_id: int, room_id: int) -> ResponseReturnValue:
    used = _room(term_id, room_id)
    address = url_for(".show", term_id=term_id, room_id=room_id)
    form = SeatsForm(data={"seats": used.seats})

    def act(reason: str) -> str:
        before = seen_number("seen") if request.form["seen"] else None
        with transaction() as session:
            rooms.set_seats(
                session, room_id, before, form.seats.data, by=visitor().id, reason=reason
            )
        return _("The seats of %(room)s are changed.", room=used.name)

    page = Confirmation(
        title=_("Seats of %(room)s", room=used.name),
        button=_("Save"),
        back=(address, used.name),
        meaning=[_("Sections keep their seats. Those with more seats than the room are listed.")],
        first_seen={"seen": used.seats},
    )
    return confirm(page, act, form)


def _room(term_id: int, room_id: int) -> RoomUse:
    """Return what meets in a room, or 404 if it is deleted."""
    with transaction() as session:
        room = session.get(Room, room_id)
        if room is None or room.deleted_at is not None:
            abort(404)
        return rooms.use_of(catalog_of(term_id), [room])[0]
