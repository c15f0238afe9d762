"""Creating and changing sections, and seat pools: a form, its effects, then the change.

A submitted form is stored as a draft and shown at its own address, so that going back in the
browser submits nothing again. The change is made when the admin confirms it.
"""

from collections.abc import Callable
from dataclasses import replace
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
from portal.core.i18n import _, _n
from portal.registration.next_steps import section_name
from portal.reports import audit_labels, audit_trail
from portal.reports.effects import section_warnings, students
from portal.reports.effects import sections as section_effects
from portal.reports.effects.section_status import OBSTACLES
from portal.web import drafts
from portal.web.admin.section_forms import NewSectionForm, SectionForm, Sent, SharedSeatsForm
from portal.web.admin.sections import apply_in_ledger, find_or_404
from portal.web.confirm import Confirmation, confirm, done
from portal.web.drafts import look_over
from portal.web.forms import Form, OptionalReasonForm, ReasonForm
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_editing", __name__, url_prefix="/terms/<int:term_id>/sections")

SHOWN = 30  # courses to choose from
SEATS, WAITLIST = 30, 10  # initial values of a new section
BUTTONS = ("csrf_token", "edit", "more", "confirmed", "reason", "refused")  # are not sent again


# Changing a section


@bp.route("/<int:section_id>/edit", methods=["GET", "POST"])
@requires("admin")
def edit(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        form = SectionForm(sent, session, offered.term, stored.course_code, stored.details)
        seen = stored.version if sent is None else sent.get("version", 0, type=int)
        if stored.obstacle:
            form.refuse(OBSTACLES[stored.obstacle])
        if sent is None or stored.obstacle or not _is_complete(sent, form):
            return look_over(lambda: _form_page(form, stored, version=seen))
        changes = differences(stored.details, form.details)
        if stored.version != seen:
            return look_over(lambda: _conflict_page(session, stored, form, changes))
        if not changes:
            form.refuse(_("You have not changed anything."))
            return look_over(lambda: _form_page(form, stored, version=seen))
        details = form.details
        effects = section_effects.of_change(session, stored, details, offered)
        page = _preview(
            stored,
            changes=changes,
            effects=effects,
            cautions=section_warnings.of_section(
                session, offered, stored.course_code, details, section_id
            ),
            people=students.people(session, section_id) if stored.status != "NEW" else (),
        )

    def store(reason: str) -> ResponseReturnValue:
        seen = SeenSection(term_id, section_id, stored.version)
        sections.edit_section(seen, details, visitor().id, reason)
        apply_in_ledger(term_id, section_id)
        name = f"{requisites.shown(stored.course_code)}-{details.number}"
        flash(_("Changed: %(name)s.", name=name))
        if effects.clashing:
            flash(
                _n(
                    "%(num)s student now has a time conflict. The student is notified and listed"
                    " on this page.",
                    "%(num)s students now have a time conflict. They are notified and listed on"
                    " this page.",
                    len(effects.clashing),
                )
            )
        return go(_address(stored))

    return _confirm(page, sent, store, _reason_form(effects))


def _is_complete(sent: Sent, form: Form) -> bool:
    """Return whether the form is valid, and sent neither for another row nor to edit it again."""
    return form.validate() and not {"edit", "more"} & sent.keys()


def _form_page(
    form: SectionForm, stored: StoredSection | None = None, *, status: int = 0, **context: Any
) -> ResponseReturnValue:
    """Render the form of a section: of `stored`, or of a new one of the context's `course`."""
    page = render_template(
        "admin/section_edit.html", term=form.term, stored=stored, form=form, **context
    )
    return page, status or (422 if form.errors else 200)


def _conflict_page(
    session: Session, stored: StoredSection, form: SectionForm, differs: list[Difference]
) -> ResponseReturnValue:
    """Show both versions; the form applies the admin's input to the version stored now."""
    if not differs:
        form.refuse(_("Someone else has already made this change."))
    last = next(iter(audit_trail.latest_about(session, stored.subject)), None)
    facts = {"version": stored.version, "differs": differs, "last": last, "labels": audit_labels}
    return _form_page(form, stored, status=409, **facts)


# Creating a section


@bp.route("/new", methods=["GET", "POST"])
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """Render courses to choose from, the form of the chosen one, or what the new section will be.

    Once that is confirmed, store it as a draft.
    """
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    chosen = (request.args if sent is None else sent).get("course", type=int)
    if sent is None and chosen is None:
        return _courses_page(term_id)
    with transaction() as session:
        found = select(Course).where(Course.id == chosen, Course.deleted_at.is_(None))
        course = session.scalar(found) or abort(400 if request.method == "POST" else 404)
        first, crn = _usual(session, term_id, course) if sent is None else (None, "")
        form = NewSectionForm(sent, session, offered.term, course.code, first)
        form.crn.data = crn if sent is None else form.crn.data
        if sent is None or not _is_complete(sent, form):
            return look_over(lambda: _form_page(form, course=course))
        details = form.details
        lines = [(each.label, each.lines(getattr(details, each.name))) for each in FIELDS.values()]
        page = Confirmation(
            title=_("Create this section?"),
            button=_("Create section"),
            back=(url_for(".new", term_id=term_id), _("Choose another course")),
            meaning=[_("It starts as a draft. Students see it after you publish it.")],
            context={
                "term": offered.term,
                "course": course,
                "lines": [("CRN", [form.crn.data]), *lines],
                "cautions": section_warnings.of_section(session, offered, course.code, details),
            },
        )

    def store(_reason: str) -> ResponseReturnValue:
        new_id = sections.create_section(term_id, course.id, form.crn.data, details, visitor().id)
        apply_in_ledger(term_id, new_id)
        name = f"{requisites.shown(course.code)}-{details.number}"
        flash(_("Created: %(name)s. It is a draft until you publish it.", name=name))
        return go(url_for("admin.sections.show", term_id=term_id, section_id=new_id))

    return _confirm(page, sent, store, Form())


def _courses_page(term_id: int) -> ResponseReturnValue:
    """Render the courses that match the search, by code."""
    wanted = " ".join(request.args.get("q", "").replace("\0", "").split())[:200]
    here = (Section.term_id == term_id) & Section.deleted_at.is_(None)
    query = (
        select(Course.id, Course.code, Course.title, func.count(Section.id).label("sections"))
        .outerjoin(Section, (Section.course_id == Course.id) & here)
        .where(Course.deleted_at.is_(None))
        .group_by(Course.id)
        .order_by(Course.code)
    )
    with transaction() as session:
        known = session.execute(query).all() if wanted else []
    words = terms(wanted)
    found = [each for each in known if matches(index(each.code, each.title), words)]
    return render_template(
        "admin/section_new.html",
        term=catalog_of(term_id).term,
        wanted=wanted,
        courses=found[:SHOWN],
        left=max(0, len(found) - SHOWN),
    )


def _usual(session: Session, term_id: int, course: Course) -> tuple[SectionDetails, str]:
    """Return what a new section of the course begins with: its details, and the next free CRN."""
    numbers = select(Section.number, Section.crn, Section.course_id)
    taken = session.execute(numbers.where(Section.term_id == term_id)).all()
    siblings = {row.number for row in taken if row.course_id == course.id}
    crns = [int(row.crn) for row in taken if row.crn.isascii() and row.crn.isdigit()]
    details = SectionDetails(
        number=next(each for n in range(1, 10_000) if (each := f"{n:02}") not in siblings),
        title=course.title,
        credits=(course.credits_min, course.credits_max),
        capacity=SEATS,
        waitlist=WAITLIST,
    )
    return details, str(max(crns, default=9999) + 1)


# Seat pools


@bp.route("/<int:section_id>/share", methods=["GET", "POST"])
@requires("admin")
def share(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        alone = (Member(section_id, stored.name),)
        name, seats = requisites.shown(stored.course_code), stored.details.capacity
        now = stored.pool or SeatPool(0, 0, name, seats, alone)
        form = SharedSeatsForm(sent, session, offered, now)
        for why in (OBSTACLES.get(stored.obstacle), sent and sent.get("refused")):
            if why:
                form.refuse(why)
        complete = sent is not None and _is_complete(sent, form)
    stored_now = (now.id, now.version)
    if sent is None:
        return look_over(lambda: _share_page(stored, form, stored_now))
    seen = (sent.get("pool", 0, type=int), sent.get("version", 0, type=int))
    if not complete:
        return look_over(lambda: _share_page(stored, form, seen))
    changes = _pool_differences(now, form.pool)
    if seen != stored_now:
        return look_over(lambda: _share_page(stored, form, stored_now, changes))
    if not changes:
        form.refuse(_("You have not changed anything."))
        return look_over(lambda: _share_page(stored, form, seen))
    effects = section_effects.of_pool(now, form.pool, term_id)
    cautions = [*section_warnings.of_pool(form.pool, offered)]
    page = _preview(stored, changes=changes, effects=effects, cautions=cautions)

    def store(reason: str) -> ResponseReturnValue:
        touched = sections.share_seats(term_id, form.pool, visitor().id, reason)
        apply_in_ledger(term_id, *touched)
        return done(_("Changed: %(name)s.", name=form.pool.name), _address(stored))

    return _confirm(page, sent, store, _reason_form(effects))


def _pool_differences(old: SeatPool, new: SeatPool) -> list[Difference]:
    """Return the fields that differ; a single section shares nothing."""
    lines = [
        ([each.name], [str(each.capacity)], [member.name for member in each.members])
        if len(each.members) >= seat_pools.FEWEST
        else ([], [], [])
        for each in (old, new)
    ]
    labels = (_("Name"), _("Shared seats"), _("Sections"))
    fields = zip(labels, *lines, strict=True)
    return [Difference(*each) for each in fields if each[1] != each[2]]


def _share_page(
    stored: StoredSection,
    form: SharedSeatsForm,
    seen: tuple[int, int],
    differs: list[Difference] | None = None,
) -> ResponseReturnValue:
    offered = catalog_of(stored.term_id)
    page = render_template(
        "admin/section_share.html",
        term=offered.term,
        stored=stored,
        form=form,
        differs=differs,
        seen=seen,
        names=[section_name(each) for each in offered.sections if each.status != "CANCELED"],
    )
    return page, 409 if differs is not None else 422 if form.errors else 200


# Confirming a form


def _preview(stored: StoredSection, **context: Any) -> Confirmation:
    """Return the page that confirms a change of a section or of its shared seats."""
    name = stored.name
    return Confirmation(
        title=_("Change %(section)s?", section=name),
        button=_("Change it"),
        back=(_address(stored), name),
        context={"term": catalog_of(stored.term_id).term, "stored": stored, **context},
    )


def _reason_form(effects: section_effects.Effects) -> Form:
    return ReasonForm() if effects.needs_reason else OptionalReasonForm()


def _confirm(
    page: Confirmation, sent: Sent, store: Callable[[str], ResponseReturnValue], reason: Form
) -> ResponseReturnValue:
    """Show what a valid form means, and store it once it is confirmed.

    If something has changed meanwhile, show the form again beside the stored values.
    """

    def act(why: str) -> ResponseReturnValue:
        try:
            return store(why)
        except Stale:
            return drafts.show_draft(request.path)
        except NotPossible as refused:
            return drafts.show_draft(request.path, str(OBSTACLES[refused.code]))

    if request.method == "POST" and "confirmed" not in sent:
        return drafts.show_draft(request.path)
    seen = {name: values for name, values in sent.lists() if name not in BUTTONS}
    template = "admin/section_confirm.html"
    return confirm(replace(page, seen={**seen, "confirmed": "yes"}, template=template), act, reason)


def _address(stored: StoredSection) -> str:
    return url_for("admin.sections.show", term_id=stored.term_id, section_id=stored.id)
