"""Seats that a section shares with others: a form, then what it will mean, then the deed."""

from dataclasses import dataclass

from flask import Blueprint, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from werkzeug.datastructures import MultiDict

from portal.admin import looks
from portal.admin.reasons import read_reason
from portal.admin.sections import sharers
from portal.admin.sections.asked import told
from portal.admin.sections.fields import Form
from portal.admin.sections.pages import find_or_404
from portal.admin.sections.preview import Preview, barred, confirm
from portal.admin.sections.words import NOT_POSSIBLE
from portal.admin.times import Reading
from portal.catalog import requisites, seat_pools, sections
from portal.catalog.seat_pools import Member, SeatPool
from portal.catalog.sections import Difference, NotPossible, Stale, StoredSection
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_share", __name__, url_prefix="/terms/<int:term_id>/sections")

LABELS = {"name": _l("Name"), "capacity": _l("Shared seats"), "section": _l("Sections")}


@dataclass(frozen=True)
class Weighed:
    """A form that was sent: what is wrong with it, or what it will mean."""

    reading: Reading
    wanted: SeatPool
    reason: str = ""
    preview: Preview | None = None  # None: the form is to be filled in further
    differs: list[Difference] | None = None  # from what somebody else has stored meanwhile


@bp.get("/<int:section_id>/share")
@requires("admin")
def ask(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form with what is shared now; of one that was sent, what is wrong or what it means."""
    form = looks.looked()
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        found = _weigh(session, stored, form) if form is not None else None
    if form is None or found is None:
        return _form(stored, _written(_now(stored)), barred(stored))
    if found.preview is None:
        return _form(stored, form, found.reading, found.differs)
    return confirm(stored, form, found.reading, found.preview)


@bp.post("/<int:section_id>/share")
@requires("admin")
def change(term_id: int, section_id: int) -> ResponseReturnValue:
    """The deed, once it is confirmed; otherwise on to what it will mean."""
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        found = _weigh(session, stored, request.form)
    if found.preview and "confirmed" in request.form and not found.reading.errors:
        return _do(stored, found.wanted, found.reason)
    return looks.look(request.path)


def _written(shared: SeatPool) -> Form:
    form: Form = MultiDict({"name": shared.name, "capacity": str(shared.capacity)})
    form.setlist("section", [each.name for each in shared.members])
    return form


def _weigh(session: Session, stored: StoredSection, form: Form) -> Weighed:
    """What is wrong, what somebody else has changed, what it will mean."""
    offered, reading, now = catalog_of(stored.term_id), barred(stored), _now(stored)
    if refused := form.get("refused"):
        reading.wrong("", refused)
    wanted = sharers.read(session, reading, form, offered, now)
    if reading.errors or "edit" in form:
        return Weighed(reading, wanted)
    seen = tuple(form.get(name, 0, type=int) for name in ("pool", "version"))
    if seen != (now.id, now.version):
        return Weighed(reading, wanted, differs=_differences(now, wanted))
    preview = _preview(now, wanted, offered)
    if not preview.changes:
        reading.wrong("", _("Nothing has been changed yet."))
        return Weighed(reading, wanted)
    needed = preview.takes and "confirmed" in form
    return Weighed(reading, wanted, read_reason(reading, form, needed=needed), preview)


def _now(stored: StoredSection) -> SeatPool:
    """What it shares, or what it might: all of its seats, with nobody yet."""
    own = Member(stored.id, f"{requisites.shown(stored.course_code)}-{stored.details.number}")
    return stored.pool or SeatPool(
        0, 0, requisites.shown(stored.course_code), stored.details.capacity, (own,)
    )


def _preview(now: SeatPool, wanted: SeatPool, offered: TermCatalog) -> Preview:
    return Preview(
        _differences(now, wanted),
        sharers.impact(now, wanted, offered.term.id),
        sharers.cautions(wanted, offered),
        not wanted.ids <= now.ids or wanted.capacity < now.capacity,
    )


def _differences(old: SeatPool, new: SeatPool) -> list[Difference]:
    before, after = _lines(old), _lines(new)
    return [
        Difference(name, str(label), before[name], after[name])
        for name, label in LABELS.items()
        if before[name] != after[name]
    ]


def _lines(shared: SeatPool) -> dict[str, list[str]]:
    """Field by field; what one section has alone is not shared."""
    if len(shared.members) < seat_pools.FEWEST:
        return {name: [] for name in LABELS}
    names = [each.name for each in shared.members]
    return {"name": [shared.name], "capacity": [str(shared.capacity)], "section": names}


def _do(stored: StoredSection, wanted: SeatPool, reason: str) -> ResponseReturnValue:
    try:
        touched = sections.share_seats(stored.term_id, wanted, visitor().id, reason)
    except Stale:  # in the moment since it was read above
        return looks.look(request.path)
    except NotPossible as refused:
        return looks.look(request.path, str(NOT_POSSIBLE[refused.code]))
    told(stored.term_id, *touched)
    flash(_("Changed: %(name)s.", name=wanted.name))
    return go(url_for("admin.sections.show", term_id=stored.term_id, section_id=stored.id))


def _form(
    stored: StoredSection, form: Form, reading: Reading, differs: list[Difference] | None = None
) -> ResponseReturnValue:
    offered, now = catalog_of(stored.term_id), _now(stored)
    page = render_template(
        "admin/section_share.html",
        term=offered.term,
        stored=stored,
        form=form,
        reading=reading,
        differs=differs,
        pool=now.id if differs is not None else form.get("pool", now.id),
        version=now.version if differs is not None else form.get("version", now.version),
        names=sharers.names(offered),
    )
    return page, 409 if differs is not None else 422 if reading.errors else 200
