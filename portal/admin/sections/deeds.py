"""Publishing, confirming, canceling, deleting a section: a page that says what it means first."""

from flask import Blueprint, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin import affected
from portal.admin.reasons import read_reason
from portal.admin.sections import impact
from portal.admin.sections.asked import told
from portal.admin.sections.pages import find_or_404
from portal.admin.sections.words import DEEDS, obstacle
from portal.admin.times import Reading
from portal.catalog import requisites, sections
from portal.catalog.sections import NotPossible, Stale, StoredSection
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.types import SeatCounts
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_deeds", __name__, url_prefix="/terms/<int:term_id>/sections")

ROUTE = f"/<int:section_id>/<any({','.join(DEEDS)}):deed>"


@bp.get(ROUTE)
@requires("admin")
def ask(term_id: int, section_id: int, deed: str) -> ResponseReturnValue:
    """The page to confirm it on; where it can't be done, why."""
    stored = _stored(term_id, section_id)
    seats = impact.seats_of(stored)
    return _page(deed, stored, seats, _barred(deed, stored, seats), 409)


@bp.post(ROUTE)
@requires("admin")
def do(term_id: int, section_id: int, deed: str) -> ResponseReturnValue:
    """Do it, or say all that stands against it."""
    stored = _stored(term_id, section_id)
    seats = impact.seats_of(stored)
    reading = _barred(deed, stored, seats)
    seen = sections.SeenSection(term_id, section_id, request.form.get("version", 0, type=int))
    if not reading.errors:
        reason = read_reason(reading, request.form, needed=DEEDS[deed].takes)
    if not reading.errors:
        try:
            sections.change_status(deed, [seen], visitor().id, reason)
        except Stale:
            stored = _stored(term_id, section_id)
            reading.wrong("", _("Somebody has changed the section meanwhile. Look once more."))
        except NotPossible as refused:
            reading.wrong("", obstacle(deed, refused.code))
    pressed_again = stored.version == seen.version + 1 and sections.done_before(
        deed, [seen], visitor().id
    )
    if reading.errors and not pressed_again:
        return _page(deed, stored, seats, reading, 422)
    told(term_id, section_id)
    flash(str(DEEDS[deed].done) % {"name": _name(stored)})
    return go(url_for("admin.sections.show", term_id=term_id, section_id=section_id))


def _stored(term_id: int, section_id: int) -> StoredSection:
    with transaction() as session:
        return find_or_404(session, term_id, section_id)


def _barred(deed: str, stored: StoredSection, seats: SeatCounts | None) -> Reading:
    """What the section's state has against it."""
    reading = Reading()
    if why := sections.status_obstacle(deed, stored):
        reading.wrong("", obstacle(deed, why))
    elif deed == "delete" and seats:
        if impact.part(stored, seats).anyone:
            reading.wrong("", obstacle(deed, "held"))
        elif seats.status != stored.status:
            # The ledger still lets students in: it has to hear first that they can't come in.
            told(stored.term_id, stored.id)
            reading.wrong("", obstacle(deed, "untold"))
    return reading


def _already(deed: str, stored: StoredSection) -> bool:
    """Whether the section is as the deed would leave it."""
    turn = sections.STATUS_CHANGES[deed]
    if turn.deletes is not None:
        return stored.deleted == turn.deletes
    return stored.status == turn.status and not stored.deleted


def _name(stored: StoredSection) -> str:
    return f"{requisites.shown(stored.course_code)}-{stored.details.number}"


def _people(stored: StoredSection) -> list[affected.Person]:
    with transaction() as session:
        return affected.people(session, stored.id)


def _page(
    deed: str, stored: StoredSection, seats: SeatCounts | None, reading: Reading, wrong: int
) -> ResponseReturnValue:
    words = DEEDS[deed]
    page = render_template(
        "admin/section_deed.html",
        term=catalog_of(stored.term_id).term,
        deed=words,
        dangerous=deed in {"cancel", "delete"},
        stored=stored,
        name=_name(stored),
        meaning=words.meaning(impact.part(stored, seats)),
        people=_people(stored) if deed in {"cancel", "confirm"} else [],
        already=_already(deed, stored),
        possible=not _barred(deed, stored, seats).errors,
        reading=reading,
        reason=request.form.get("reason", ""),
    )
    return page, wrong if reading.errors else 200
