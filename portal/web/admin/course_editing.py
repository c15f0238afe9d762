"""The page of a course; creating and editing courses: a form, its effects, then the change."""

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session
from wtforms import ValidationError

from portal.catalog import courses, requisites
from portal.catalog.courses import CourseDetails
from portal.catalog.deletion import Obstacle
from portal.catalog.models import Course, Subject, Term
from portal.catalog.record_details import Difference, RecordChange
from portal.catalog.section_fields import (
    FIELDS,
    LONGEST_NOTE,
    parse_credits,
    write_credits,
)
from portal.catalog.sections import SeenSection, StoredSection
from portal.catalog.spellings import Unreadable, code_of, subject_of
from portal.catalog.term_catalog import catalog_of, expire
from portal.core.db import transaction
from portal.core.form_fields import whole_number
from portal.core.i18n import _, _l, _n
from portal.exchange import term_names
from portal.exchange.term_names import ImportPending
from portal.people.roles import Right
from portal.reports.effects import sections as section_effects
from portal.web import drafts
from portal.web.admin.audit_trail import history_of
from portal.web.admin.record_editing import RecordEdit, confirm_change, is_complete, show_form
from portal.web.admin.section_forms import LinesField, ParsedField, form_field
from portal.web.admin.sections import apply_in_ledger
from portal.web.confirm import Confirmation, done
from portal.web.forms import ChoicesField, Form, OneOfField, SelectOneField, Sent, TextField
from portal.web.http.access import requires, visitor
from portal.windows import cohorts

bp = Blueprint("course_editing", __name__, url_prefix="/courses")

FORM = "admin/course_edit.html"
LONGEST_CATEGORY, MOST_CATEGORIES = 60, 20
AUDIENCE = {"years": "years", "levels": "levels", "majors": "subjects"}  # kinds of cohorts


def _parse_categories(written: str) -> tuple[str, ...]:
    found = dict.fromkeys(" ".join(each.split()) for each in written.split(","))
    named = tuple(filter(None, found))
    if len(named) > MOST_CATEGORIES or any(len(each) > LONGEST_CATEGORY for each in named):
        facts = {"most": MOST_CATEGORIES, "longest": LONGEST_CATEGORY}
        wrong = _("enter at most %(most)s categories of at most %(longest)s characters.", **facts)
        raise ValueError(wrong)
    return named


class CourseForm(Form):
    """All fields of a course, and the terms whose sections follow."""

    code = TextField(
        _l("Code"),
        longest=24,
        missing=_l("Enter a course code, such as CSC 1100."),
        render_kw={"spellcheck": "false"},
    )
    credits = ParsedField(
        _l("Credits"),
        parse_credits,
        write_credits,
        description=_l("A number such as 4, or a range such as 1-15."),
        render_kw={"autocomplete": "off"},
    )
    title = TextField(_l("Title"), longest=200, missing=_l("Enter a title."))
    department = SelectOneField(_l("Department"), missing=_l("Choose a department."))
    offered = TextField(
        _l("Offered"), required=False, longest=200, description=_l("Such as “Every fall”.")
    )
    description = LinesField(
        _l("Description"), required=False, longest=LONGEST_NOTE, render_kw={"rows": 4}
    )
    categories = ParsedField(
        _l("Categories"),
        _parse_categories,
        ", ".join,
        description=_l("Separate them with commas."),
        render_kw={"autocomplete": "off"},
    )
    prerequisites = form_field(FIELDS["prerequisites"])
    corequisites = form_field(FIELDS["corequisites"])
    whom = OneOfField(
        _l("Who can register"),
        choices={
            "everyone": _l("Every student"),
            "some": _l("Only students who match at least one of these"),
        },
        missing=_l("Choose who can register."),
    )
    years = ChoicesField(_l("Class years"), chips=True)
    levels = ChoicesField(_l("Levels"), chips=True)
    majors = ChoicesField(_l("Majors and minors"), chips=True)
    terms = ChoicesField(
        _l("Change their sections, too"),
        description=_l(
            "The sections of the terms that you choose get a new title, credits, prerequisites"
            " and corequisites, if you change these here. Other terms keep theirs."
        ),
    )

    def __init__(
        self,
        sent: Sent | None,
        session: Session,
        stored: CourseDetails | None = None,
        terms: list[tuple[Term, int]] | None = None,
    ) -> None:
        audience = "everyone" if stored is None or stored.public else "some"
        first = (vars(stored) if stored else {}) | {"whom": audience}
        super().__init__(sent, data=first if sent is None else None)
        self.session, self.stored = session, stored
        self.department.offer({"": "", **courses.departments(session)})
        choices = cohorts.choices(session)
        for name, kind in AUDIENCE.items():
            known = getattr(stored, name) if stored else ()
            self[name].offer(
                choices[kind] | {each: each for each in known if each not in choices[kind]}
            )
        self.terms.offer(
            {str(each.id): each.name for each, _count in terms or [] if courses.lasts(each)}
        )
        if not self.terms.choices:
            del self.terms

    @property
    def chosen_terms(self) -> list[int]:
        """Return the terms whose sections follow."""
        return [int(each) for each in self.terms.data or ()] if "terms" in self else []

    def validate_code(self, field: TextField) -> None:
        """Raise ValidationError unless it is a course code whose subject can be used."""
        try:
            field.data = code_of(field.data)
        except Unreadable as error:
            raise ValidationError(str(error)) from error
        others = select(Course.deleted_at).where(Course.code == field.data)
        if request.method == "POST" or (self.stored and field.data == self.stored.code):
            return  # storing it checks this, too: the same form may be sent twice
        taken = self.session.execute(others).one_or_none()
        if taken and taken.deleted_at:
            raise ValidationError(
                _("A deleted course has this code. Restore it in the catalog, or choose another.")
            )
        if taken:
            raise ValidationError(_("Another course has this code. Choose another."))
        subject = select(Subject.deleted_at).where(Subject.code == subject_of(field.data))
        if self.session.scalar(subject):
            name = subject_of(field.data)
            raise ValidationError(
                _("The subject %(name)s is deleted. Restore it first.", name=name)
            )

    def check_together(self) -> None:
        """Check the requisites, and build the details that the fields describe."""
        some = self.whom.data == "some"
        if some and not any(self[name].data or self[name].errors for name in AUDIENCE):
            self.refuse(_("Choose at least one year, level or major."), "whom")
        self._check_requisites()
        if self.errors:
            return
        values = {name: self[name].data for name in CourseDetails.fields() if name in self}
        values |= {name: tuple(self[name].data) if some else () for name in AUDIENCE}
        self.details = CourseDetails(**values, public=not some)

    def _check_requisites(self) -> None:
        """Refuse a course that requires itself."""
        for name in ("prerequisites", "corequisites"):
            if self.code.data in requisites.codes(self[name].data):
                own = requisites.shown(self.code.data)
                self.refuse(_("%(code)s can’t require itself.", code=own), name)

    def unknown_courses(self) -> list[str]:
        """Return the codes that its requisites name and that no course has."""
        named = [
            *requisites.codes(self.details.prerequisites),
            *requisites.codes(self.details.corequisites),
        ]
        known = select(Course.code).where(Course.code.in_(named), Course.deleted_at.is_(None))
        found = set(self.session.scalars(known))
        return [each for each in dict.fromkeys(named) if each not in found]


@bp.get("/<int:course_id>")
@requires(Right.SEE_SECTIONS)
def show(course_id: int) -> ResponseReturnValue:
    """Render a course: its fields, its sections by term, and its history."""
    with transaction() as session:
        course = courses.find(session, course_id) or abort(404)
        details = courses.details(session, course)
        offered = courses.offered(session, course_id)
        history = history_of(session, f"course:{course_id}")
    taught = [(term, catalog_of(term.id).sections_of(course_id)) for term, _count in offered]
    return render_template(
        "admin/course.html",
        course=course,
        facts=details.lines,
        taught=taught,
        **history,
    )


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS)
def new() -> ResponseReturnValue:
    """Render the form of a new course, or what it will be; store it once that is confirmed."""
    sent = drafts.sent_form()
    back = url_for("admin.catalog.index", records="course"), _("Courses")
    with transaction() as session:
        form = CourseForm(sent, session)
        if sent is None or not is_complete(sent, form):
            return show_form(form, FORM, back=back)
        details = form.details
        page = Confirmation(
            title=_("Create this course?"),
            button=_("Create course"),
            back=back,
            meaning=[_("Students see the course when a term has a section of it.")],
            context={"lines": details.lines, "cautions": _cautions(session, form)},
        )

    def store(reason: str) -> ResponseReturnValue:
        made = courses.create(RecordChange(details, visitor().id, reason))
        message = _("%(name)s is created.", name=requisites.shown(details.code))
        return done(message, url_for(".show", course_id=made))

    return confirm_change(page, sent, store)


@bp.route("/<int:course_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS)
def edit(course_id: int) -> ResponseReturnValue:
    """Render the form or the effects of the submitted one; store it once it is confirmed."""
    sent = drafts.sent_form()
    with transaction() as session:
        course = courses.find(session, course_id) or abort(404)
        stored, terms = courses.details(session, course), courses.offered(session, course_id)
        form = CourseForm(sent, session, stored, terms)
        back = url_for(".show", course_id=course_id), requisites.shown(stored.code)
        subject = f"course:{course_id}"
        change = RecordEdit(sent, form, stored, subject, back, FORM, {"course": course})
        if early := change.page_before_review(session):
            return early
        wanted = form.details
        if needed := courses.code_obstacles(session, course_id, stored, wanted):
            form.refuse(_code_refusal(needed), "code")
            return change.show_form()
        edits = _planned(session, course_id, stored, form)
        meaning = _meaning(stored, form, terms, edits)
        shown = [f"{each.term_id}:{each.id}:{each.version}" for each, *_rest in edits]
        cautions = _cautions(session, form)

    def store(confirmed: RecordChange[CourseDetails]) -> ResponseReturnValue:
        following = _following(request.form)
        try:
            with transaction() as session:
                courses.edit(session, course_id, confirmed, following)
                if wanted.code != stored.code:
                    term_names.rename(session, "course", stored.code, wanted.code)
        except ImportPending:
            why = _("You can’t change a code while an import is in progress or waits for review.")
            return drafts.show_draft(request.path, why)
        for term_id in {each.term_id for each in following}:
            ids = [each.section_id for each in following if each.term_id == term_id]
            apply_in_ledger(term_id, *ids)
        for term, _count in terms:
            expire(term.id)
        return _("%(name)s is saved.", name=requisites.shown(wanted.code))

    return change.confirm(store, meaning, {"section": shown}, edits=edits, cautions=cautions)


Planned = tuple[StoredSection, str, list[Difference], list[str]]


def _planned(
    session: Session, course_id: int, stored: CourseDetails, form: CourseForm
) -> list[Planned]:
    """Return the sections that follow, each with its term, what changes, and what that means."""
    found = courses.following(session, course_id, stored, form.details, form.chosen_terms)
    names = {term: catalog_of(term) for term in form.chosen_terms}
    return [
        (
            each,
            names[each.term_id].term.name,
            each.differences(wanted),
            section_effects.of_change(session, each, wanted, names[each.term_id]).sentences,
        )
        for each, wanted in found
    ]


def _following(sent: Sent) -> list[SeenSection]:
    """Return the sections that the review showed, with their versions."""
    found = []
    for each in sent.getlist("section"):
        numbers = [whole_number(part) for part in each.split(":")]
        if len(numbers) != 3 or None in numbers:
            abort(400)
        found.append(SeenSection(*(number or 0 for number in numbers)))
    return sorted(found, key=lambda each: (each.term_id, each.section_id))


def _meaning(
    stored: CourseDetails,
    form: CourseForm,
    terms: list[tuple[Term, int]],
    edits: list[Planned],
) -> list[str]:
    """Return what the change means for each term."""
    wanted = form.details
    fields = CourseDetails.fields()
    changed = {name for name in fields if getattr(stored, name) != getattr(wanted, name)}
    lasting = [(term, count) for term, count in terms if courses.lasts(term)]
    found = []
    if changed.difference(courses.FOLLOWED[1:]) and lasting:
        names = ", ".join(term.name for term, _count in lasting)
        found.append(
            _("Pages of these terms show the course as it is now: %(names)s.", names=names)
        )
    if changed.intersection(courses.FOLLOWED):
        chosen = {each.term_id for each, *_rest in edits}
        for term, count in lasting:
            if term.id not in chosen:
                found.append(
                    _n(
                        "%(term)s: %(num)s section keeps its title, credits and requirements.",
                        "%(term)s: %(num)s sections keep their title, credits and requirements.",
                        count,
                        term=term.name,
                    )
                )
        found.append(_("New sections begin with these credits, prerequisites and corequisites."))
    if changed & {"public", *AUDIENCE}:
        found.append(
            _("Who can register applies from now on, in every term. Students keep their seats.")
        )
    return found


def _cautions(session: Session, form: CourseForm) -> list[str]:
    found = [
        _("No course has the code %(code)s.", code=requisites.shown(code))
        for code in form.unknown_courses()
    ]
    code = form.details.code
    is_new = form.stored is None or form.stored.code != code
    if is_new and courses.new_subject(session, code):
        found.append(_("%(code)s is a new subject. It will be added.", code=subject_of(code)))
    return found


def _code_refusal(found: list[Obstacle]) -> str:
    names = "; ".join(each.text for each in found)
    return _(
        "The code can’t change, because these refer to it: %(names)s. Create a new course instead.",
        names=names,
    )
