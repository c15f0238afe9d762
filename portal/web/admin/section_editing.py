"""Creating and changing sections: a form, its effects, then the change."""

from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import courses, requisites, sections
from portal.catalog.record_details import RecordChange
from portal.catalog.search import index, matches, terms
from portal.catalog.sections import NotPossible, SeenSection, StoredSection
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.exchange.importing.report import noted_keys
from portal.people.roles import Right
from portal.reports.effects import section_warnings, students
from portal.reports.effects import sections as section_effects
from portal.reports.effects.sections import OBSTACLES
from portal.web import drafts
from portal.web.admin.record_editing import RecordEdit, confirm_change, is_complete, show_form
from portal.web.admin.section_forms import NewSectionForm, SectionForm
from portal.web.admin.sections import apply_in_ledger, find_or_404, may_add_rooms
from portal.web.confirm import Confirmation
from portal.web.forms import Form, OptionalReasonForm, ReasonForm
from portal.web.http.access import demand, requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_editing", __name__, url_prefix="/terms/<int:term_id>/sections")

SHOWN = 30  # courses to choose from
FORM = "admin/section_edit.html"
REVIEW = "admin/section_confirm.html"


# Changing a section


@bp.route("/<int:section_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def edit(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id, Right.CHANGE_SECTIONS)
        form = SectionForm(sent, session, offered.term, stored.course_code, stored.details)
        context = {"term": offered.term, "stored": stored}
        change = RecordEdit(sent, form, stored, stored.subject, back_to(stored), FORM, context)
        if stored.obstacle:
            form.refuse(OBSTACLES[stored.obstacle])
        if page := change.page_before_review(session):
            return page
        details = form.details
        effects = section_effects.of_change(session, stored, details, offered)
        cautions = section_warnings.of_section(
            session, offered, stored.course_code, details, section_id
        )
        people = students.people(session, section_id) if stored.status != "NEW" else ()

    def store(confirmed: RecordChange[Any]) -> ResponseReturnValue:
        seen = SeenSection(term_id, section_id, stored.version)
        several = [(seen, details)]
        sections.edit_sections(several, confirmed.by, confirmed.reason, new_rooms=may_add_rooms())
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
        return go(change.back[0])

    return change.confirm(
        store,
        reason=reason_form(effects),
        template=REVIEW,
        term=offered.term,
        stored=stored,
        effects=effects,
        cautions=cautions,
        people=people,
    )


# Creating a section


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def new(term_id: int) -> ResponseReturnValue:
    """Render courses to choose from, the form of the chosen one, or what the new section will be.

    Once that is confirmed, store it as a draft.
    """
    sent, offered = drafts.sent_form(), catalog_of(term_id)
    chosen = (request.args if sent is None else sent).get("course", type=int)
    if sent is None and chosen is None:
        return _courses_page(term_id)
    with transaction() as session:
        course = courses.find(session, chosen or 0)
        course = course or abort(400 if request.method == "POST" else 404)
        demand(Right.CHANGE_SECTIONS, course.department_id)
        first, crn = None, ""
        if sent is None:
            elsewhere = noted_keys(session, offered.term.name)
            first, crn = sections.initial_details(session, term_id, course, elsewhere)
        form = NewSectionForm(sent, session, offered.term, course.code, first)
        form.crn.data = crn if sent is None else form.crn.data
        if sent is None or not is_complete(sent, form):
            return show_form(form, FORM, term=offered.term, course=course)
        details = form.details
        page = Confirmation(
            title=_("Create this section?"),
            button=_("Create section"),
            back=(url_for(".new", term_id=term_id), _("Choose another course")),
            meaning=[_("It starts as a draft. Students see it after you publish it.")],
            context={
                "term": offered.term,
                "course": course,
                "lines": [("CRN", [form.crn.data]), *details.lines],
                "cautions": section_warnings.of_section(session, offered, course.code, details),
            },
        )

    def store(_reason: str) -> ResponseReturnValue:
        try:
            new_id = sections.create_section(
                term_id,
                course.id,
                form.crn.data,
                details,
                visitor().id,
                new_rooms=may_add_rooms(),
            )
        except NotPossible as refused:
            if refused.code != "course_deleted":
                raise
            flash(str(OBSTACLES[refused.code]))  # its form has gone with the course
            return go(url_for(".new", term_id=term_id))
        apply_in_ledger(term_id, new_id)
        name = f"{requisites.shown(course.code)}-{details.number}"
        flash(_("Created: %(name)s. It is a draft until you publish it.", name=name))
        return go(url_for("admin.sections.show", term_id=term_id, section_id=new_id))

    return confirm_change(page, sent, store, Form(), REVIEW)


def _courses_page(term_id: int) -> ResponseReturnValue:
    """Render the courses that match the search, by code."""
    wanted = " ".join(request.args.get("q", "").replace("\0", "").split())[:200]
    with transaction() as session:
        known = sections.courses(session, term_id) if wanted else []
    words = terms(wanted)
    found = [
        each
        for each in known
        if matches(index(each.code, each.title), words)
        and visitor().may_in(Right.CHANGE_SECTIONS, each.department_id)
    ]
    return render_template(
        "admin/section_new.html",
        term=catalog_of(term_id).term,
        wanted=wanted,
        courses=found[:SHOWN],
        left=max(0, len(found) - SHOWN),
    )


# Confirming a form


def reason_form(effects: section_effects.Effects) -> Form:
    """Return the form for a reason, which is required if the change takes something away."""
    return ReasonForm() if effects.needs_reason else OptionalReasonForm()


def back_to(stored: StoredSection) -> tuple[str, str]:
    """Return the address and the name of the page of a section."""
    page = url_for("admin.sections.show", term_id=stored.term_id, section_id=stored.id)
    return page, stored.name
