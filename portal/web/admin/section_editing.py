"""Creating and changing sections, and seat pools: a form, its effects, then the change.

A submitted form is stored as a draft and shown at its own address, so that going back in the
browser submits nothing again. The change is made when the admin confirms it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.catalog import requisites, seat_pools, sections
from portal.catalog.models import Course, Section
from portal.catalog.search import index, matches, terms
from portal.catalog.seat_pools import Member, SeatPool
from portal.catalog.section_fields import FIELDS, SectionDetails
from portal.catalog.sections import (
    Difference,
    NotPossible,
    SeenSection,
    Stale,
    StoredSection,
    differences,
)
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.registration.next_steps import section_name
from portal.reports import audit_trail
from portal.web import drafts
from portal.web.admin import affected, section_effects
from portal.web.admin.section_effects import PlannedSection, occupancy, seats_of, warnings
from portal.web.admin.section_forms import (
    NewSectionForm,
    SectionForm,
    Sent,
    SharedSeatsForm,
    write_details,
    write_pool,
)
from portal.web.admin.sections import OBSTACLES, VERBS, apply_in_ledger, find_or_404, name_of_stored
from portal.web.forms import Form, OptionalReasonForm, ReasonForm
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_editing", __name__, url_prefix="/terms/<int:term_id>/sections")

SHOWN = 30  # courses to choose from
SEATS, WAITLIST = 30, 10  # initial values of a new section
POOL_LABELS = {"name": _l("Name"), "capacity": _l("Shared seats"), "section": _l("Sections")}


@dataclass(frozen=True)
class Preview:
    """The effects of a change, and the form for the reason."""

    changes: list[Difference]
    effects: list[str]
    warnings: list[str]
    takes: bool  # something from students, so that it needs a reason
    reason: Form
    clashing: Sequence[affected.AffectedStudent] = ()  # those whose other sections would clash
    people: Sequence[affected.AffectedStudent] = ()  # everyone with a seat or a waitlist position


@dataclass(frozen=True)
class FoundCourse:
    """A course to choose, and the number of its sections in the term."""

    id: int
    code: str
    title: str
    sections: int


# Changing a section


@bp.route("/<int:section_id>/edit", methods=["GET", "POST"])
@requires("admin")
def edit(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    posted = request.method == "POST"
    sent = request.form if posted else drafts.shown_draft()
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        form = _section_form(
            session, stored, write_details(stored.details) if sent is None else sent
        )
        if sent is None or not _to_review(stored, sent, form):
            return drafts.show_draft(request.path) if posted else _edit_page(stored, form, sent)
        if stored.version != sent.get("version", 0, type=int):
            return (
                drafts.show_draft(request.path) if posted else _conflict_page(session, stored, form)
            )
        preview = _preview(session, stored, form.details, sent)
    if not posted:
        return _confirm_page(stored, sent, preview)
    if "confirmed" not in sent or preview.reason.errors:
        return drafts.show_draft(request.path)
    seen = SeenSection(term_id, section_id, stored.version)
    try:
        sections.edit_section(seen, form.details, visitor().id, preview.reason.reason.data)
    except (Stale, NotPossible):  # changed since it was read above
        return drafts.show_draft(request.path)
    apply_in_ledger(term_id, section_id)
    flash(_("Changed: %(name)s.", name=_name(stored, form.details)))
    _flash_clashes(len(preview.clashing))
    return go(url_for("admin.sections.show", term_id=term_id, section_id=section_id))


def _section_form(session: Session, stored: StoredSection, sent: Sent) -> SectionForm:
    form = SectionForm(sent, session, catalog_of(stored.term_id).term, stored.course_code)
    if stored.obstacle:
        form.refuse(OBSTACLES[stored.obstacle])
    return form


def _to_review(stored: StoredSection, sent: Sent, form: SectionForm) -> bool:
    """Return whether a submitted form describes a change; add errors if it does not."""
    if stored.obstacle or not form.validate() or {"edit", "more"} & sent.keys():
        return False
    seen = sent.get("version", 0, type=int)
    if stored.version == seen and form.details == stored.details:
        form.refuse(_("Nothing has been changed yet."))
        return False
    return True


def _preview(
    session: Session, stored: StoredSection, wanted: SectionDetails, sent: Sent
) -> Preview:
    offered, now = catalog_of(stored.term_id), occupancy(stored, seats_of(stored))
    takes = section_effects.needs_reason(stored, wanted, now)
    planned = PlannedSection(stored.id, stored.course_code, wanted, offered)
    return Preview(
        changes=differences(stored.details, wanted),
        effects=section_effects.effects(session, stored, wanted, now, offered),
        warnings=warnings(session, planned),
        takes=takes,
        reason=_reason_form(sent, takes),
        clashing=section_effects.clashing(session, stored, wanted, offered),
        people=affected.people(session, stored.id) if stored.status != "NEW" else (),
    )


def _reason_form(sent: Sent, required: bool) -> Form:  # noqa: FBT001
    """Return the form for the reason, with its errors if the change was confirmed without one."""
    form: Form = (ReasonForm if required else OptionalReasonForm)(sent)
    if "confirmed" in sent:
        form.validate()
    return form


def _name(stored: StoredSection, details: SectionDetails) -> str:
    return f"{requisites.shown(stored.course_code)}-{details.number}"


def _flash_clashes(number: int) -> None:
    if number:
        flash(
            _n(
                "%(num)s student has another section at the same time now, is told so, and is"
                " named on this page.",
                "%(num)s students have another section at the same time now, are told so, and are"
                " named on this page.",
                number,
            )
        )


def _edit_page(
    stored: StoredSection, form: SectionForm, sent: Sent | None, **conflict: Any
) -> ResponseReturnValue:
    version = stored.version if sent is None else sent.get("version", stored.version)
    page = render_template(
        "admin/section_edit.html",
        term=catalog_of(stored.term_id).term,
        stored=stored,
        form=form,
        verbs=VERBS,
        **{"version": version} | conflict,
    )
    return page, 409 if conflict else 422 if form.errors else 200


def _conflict_page(
    session: Session, stored: StoredSection, form: SectionForm
) -> ResponseReturnValue:
    """Show both versions; the form applies the admin's input to the version stored now."""
    differs = differences(stored.details, form.details)
    if not differs:
        form.refuse(_("It has been changed meanwhile, to just what you have entered."))
    last = next(iter(audit_trail.of(session, stored.subject)), None)
    return _edit_page(stored, form, None, differs=differs, last=last)


def _confirm_page(stored: StoredSection, sent: Sent, preview: Preview) -> ResponseReturnValue:
    page = render_template(
        "admin/section_confirm.html",
        term=catalog_of(stored.term_id).term,
        stored=stored,
        preview=preview,
        form=preview.reason,
        kept=[*sent.items(multi=True)],
    )
    return page, 422 if preview.reason.errors else 200


# Creating a section


@bp.get("/new")
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """Render courses to choose from, the form of the chosen one, or the submitted form."""
    sent = drafts.shown_draft()
    chosen = request.args.get("course", type=int) if sent is None else _course_id(sent)
    if chosen is None:
        return _courses_page(term_id)
    with transaction() as session:
        course = _course(session, chosen) or abort(404)
        filled = _blank(session, term_id, course) if sent is None else sent
        form = NewSectionForm(filled, session, catalog_of(term_id).term, course.code)
        if sent is None or not form.validate() or {"edit", "more"} & sent.keys():
            return _new_page(term_id, course, form)
        planned = PlannedSection(0, course.code, form.details, catalog_of(term_id))
        return render_template(
            "admin/section_first.html",
            term=catalog_of(term_id).term,
            course=course,
            crn=form.crn.data,
            facts=[
                (each.label, each.lines(getattr(form.details, each.name)))
                for each in FIELDS.values()
            ],
            cautions=warnings(session, planned),
            kept=[*sent.items(multi=True)],
        )


@bp.post("")
@requires("admin")
def create(term_id: int) -> ResponseReturnValue:
    """Store the new draft once it is confirmed; otherwise redirect to the review page."""
    sent = request.form
    with transaction() as session:
        course = _course(session, _course_id(sent)) or abort(400)
        form = NewSectionForm(sent, session, catalog_of(term_id).term, course.code)
        ready = form.validate() and "confirmed" in sent and not {"edit", "more"} & sent.keys()
    if not ready:
        return drafts.show_draft(url_for(".new", term_id=term_id))
    try:
        section_id = sections.create_section(
            term_id, course.id, form.crn.data, form.details, visitor().id
        )
    except NotPossible:  # changed since it was read above
        return drafts.show_draft(url_for(".new", term_id=term_id))
    apply_in_ledger(term_id, section_id)
    name = f"{requisites.shown(course.code)}-{form.details.number}"
    flash(_("Created: %(name)s. It is a draft until you publish it.", name=name))
    return go(url_for("admin.sections.show", term_id=term_id, section_id=section_id))


def _course_id(sent: Sent) -> int:
    return sent.get("course", 0, type=int)


def _course(session: Session, course_id: int) -> Course | None:
    found = select(Course).where(Course.id == course_id, Course.deleted_at.is_(None))
    return session.scalar(found)


def _courses_page(term_id: int) -> ResponseReturnValue:
    """Render the courses that match the search, by code."""
    wanted = " ".join(request.args.get("q", "").replace("\0", "").split())[:200]
    here = (Section.term_id == term_id) & Section.deleted_at.is_(None)
    query = (
        select(Course.id, Course.code, Course.title, func.count(Section.id))
        .outerjoin(Section, (Section.course_id == Course.id) & here)
        .where(Course.deleted_at.is_(None))
        .group_by(Course.id)
        .order_by(Course.code)
    )
    with transaction() as session:
        known = [FoundCourse(*row) for row in session.execute(query)] if wanted else []
    words = terms(wanted)
    found = [each for each in known if matches(index(each.code, each.title), words)]
    return render_template(
        "admin/section_new.html",
        term=catalog_of(term_id).term,
        wanted=wanted,
        courses=found[:SHOWN],
        left=max(0, len(found) - SHOWN),
    )


def _blank(session: Session, term_id: int, course: Course) -> Sent:
    """Return the form with the course's defaults and the next free numbers."""
    numbers = select(Section.number, Section.crn, Section.course_id)
    taken = session.execute(numbers.where(Section.term_id == term_id)).all()
    siblings = {row.number for row in taken if row.course_id == course.id}
    crns = [int(row.crn) for row in taken if row.crn.isascii() and row.crn.isdigit()]
    sent = write_details(
        SectionDetails(
            number=next(each for n in range(1, 10_000) if (each := f"{n:02}") not in siblings),
            title=course.title,
            credits=(course.credits_min, course.credits_max),
            capacity=SEATS,
            waitlist=WAITLIST,
        )
    )
    sent["crn"] = str(max(crns, default=9999) + 1)
    return sent


def _new_page(term_id: int, course: Course, form: NewSectionForm) -> ResponseReturnValue:
    term = catalog_of(term_id).term
    page = render_template("admin/section_edit.html", term=term, course=course, form=form)
    return page, 422 if form.errors else 200


# Seat pools


@bp.route("/<int:section_id>/share", methods=["GET", "POST"])
@requires("admin")
def share(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    posted = request.method == "POST"
    sent, offered = request.form if posted else drafts.shown_draft(), catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        now = stored.pool or _own_seats(stored)
        form = SharedSeatsForm(write_pool(now) if sent is None else sent, session, offered, now)
        if stored.obstacle:
            form.refuse(OBSTACLES[stored.obstacle])
        if sent and (why := sent.get("refused")):
            form.refuse(why)
        valid = sent is not None and form.validate()
    if sent is None or not valid or "edit" in sent:
        return drafts.show_draft(request.path) if posted else _share_page(stored, form, now, sent)
    changes = _pool_differences(now, form.pool)
    if tuple(sent.get(name, 0, type=int) for name in ("pool", "version")) != (now.id, now.version):
        return (
            drafts.show_draft(request.path)
            if posted
            else _share_page(stored, form, now, None, changes)
        )
    if not changes:
        form.refuse(_("Nothing has been changed yet."))
        return drafts.show_draft(request.path) if posted else _share_page(stored, form, now, sent)
    takes = not form.pool.ids <= now.ids or form.pool.capacity < now.capacity
    preview = Preview(
        changes=changes,
        effects=section_effects.pool_effects(now, form.pool, term_id),
        warnings=section_effects.pool_warnings(form.pool, offered),
        takes=takes,
        reason=_reason_form(sent, takes),
    )
    if not posted:
        return _confirm_page(stored, sent, preview)
    if "confirmed" not in sent or preview.reason.errors:
        return drafts.show_draft(request.path)
    return _share(stored, form.pool, preview.reason.reason.data)


def _share(stored: StoredSection, wanted: SeatPool, reason: str) -> ResponseReturnValue:
    try:
        touched = sections.share_seats(stored.term_id, wanted, visitor().id, reason)
    except Stale:  # changed since it was read above
        return drafts.show_draft(request.path)
    except NotPossible as refused:
        return drafts.show_draft(request.path, str(OBSTACLES[refused.code]))
    apply_in_ledger(stored.term_id, *touched)
    flash(_("Changed: %(name)s.", name=wanted.name))
    return go(url_for("admin.sections.show", term_id=stored.term_id, section_id=stored.id))


def _own_seats(stored: StoredSection) -> SeatPool:
    """Return a new pool of all the section's seats, with no other section yet."""
    members = (Member(stored.id, name_of_stored(stored)),)
    name = requisites.shown(stored.course_code)
    return SeatPool(0, 0, name, stored.details.capacity, members)


def _pool_differences(old: SeatPool, new: SeatPool) -> list[Difference]:
    before, after = _pool_lines(old), _pool_lines(new)
    return [
        Difference(name, str(label), before[name], after[name])
        for name, label in POOL_LABELS.items()
        if before[name] != after[name]
    ]


def _pool_lines(pool: SeatPool) -> dict[str, list[str]]:
    """Return the pool field by field; a single section shares nothing."""
    if len(pool.members) < seat_pools.FEWEST:
        return {name: [] for name in POOL_LABELS}
    names = [each.name for each in pool.members]
    return {"name": [pool.name], "capacity": [str(pool.capacity)], "section": names}


def _share_page(
    stored: StoredSection,
    form: SharedSeatsForm,
    now: SeatPool,
    sent: Sent | None,
    differs: list[Difference] | None = None,
) -> ResponseReturnValue:
    offered = catalog_of(stored.term_id)
    page = render_template(
        "admin/section_share.html",
        term=offered.term,
        stored=stored,
        form=form,
        differs=differs,
        pool=now.id if sent is None else sent.get("pool", now.id),
        version=now.version if sent is None else sent.get("version", now.version),
        names=[section_name(each) for each in offered.sections if each.status != "CANCELED"],
    )
    return page, 409 if differs is not None else 422 if form.errors else 200
