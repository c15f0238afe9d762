"""Making a section: choose its course, fill in the form, look it over, and there is a draft."""

import re
from dataclasses import dataclass

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.admin import looks
from portal.admin.sections import fields
from portal.admin.sections.asked import choices, told
from portal.admin.sections.cautions import Subject, cautions
from portal.admin.sections.words import NOT_POSSIBLE
from portal.admin.times import Reading
from portal.catalog import requisites, sections
from portal.catalog.models import Course, Section
from portal.catalog.search import index, matches, terms
from portal.catalog.section_fields import FIELDS, SectionDetails
from portal.catalog.sections import NotPossible
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("section_new", __name__, url_prefix="/terms/<int:term_id>/sections")

SHOWN = 30  # courses to choose from
CRN = re.compile(r"[\w.-]{1,24}")
SEATS, PLACES = 30, 10  # what a form begins with


@dataclass(frozen=True)
class Found:
    """A course to choose, and how many sections of it the term has."""

    id: int
    code: str
    title: str
    sections: int


@dataclass(frozen=True)
class Weighed:
    """A form that was sent: what is wrong with it, or the section that it describes."""

    form: fields.Form
    reading: Reading
    crn: str
    made: SectionDetails | None

    @property
    def ready(self) -> bool:
        """Whether it can be looked over."""
        return not (self.reading.errors or {"edit", "more"} & self.form.keys())


@bp.get("/new")
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """Courses to choose from; with one chosen its form, or what was sent of it to look over."""
    if (form := looks.looked()) is not None:
        return _look(term_id, form)
    chosen = request.args.get("course", type=int)
    with transaction() as session:
        if chosen:
            course = _course(session, chosen) or abort(404)
            return _form(session, term_id, course, _blank(session, term_id, course), Reading())
        wanted = " ".join(request.args.get("q", "").replace("\0", "").split())[:200]
        found = _search(session, term_id, wanted) if wanted else []
    return render_template(
        "admin/section_new.html",
        term=catalog_of(term_id).term,
        wanted=wanted,
        courses=found[:SHOWN],
        left=max(0, len(found) - SHOWN),
    )


@bp.post("")
@requires("admin")
def create(term_id: int) -> ResponseReturnValue:
    """The new draft, once it is confirmed; otherwise on to the page that looks it over."""
    with transaction() as session:
        course = _course(session, request.form.get("course", 0, type=int)) or abort(400)
        found = _weigh(session, term_id, course, request.form)
    if found.made and found.ready and "confirmed" in request.form:
        return _create(term_id, course, found.crn, found.made)
    return looks.look(url_for(".new", term_id=term_id))


def _look(term_id: int, form: fields.Form) -> ResponseReturnValue:
    """What is wrong with the form, or the page to confirm it on."""
    offered = catalog_of(term_id)
    with transaction() as session:
        course = _course(session, form.get("course", 0, type=int)) or abort(404)
        found = _weigh(session, term_id, course, form)
        if found.made is None or not found.ready:
            return _form(session, term_id, course, form, found.reading)
        return render_template(
            "admin/section_first.html",
            term=offered.term,
            course=course,
            crn=found.crn,
            facts=[
                (field.label, field.lines(getattr(found.made, name)))
                for name, field in FIELDS.items()
            ],
            cautions=cautions(session, Subject(0, course.code, found.made, offered)),
            kept=[*form.items(multi=True)],
        )


def _weigh(session: Session, term_id: int, course: Course, form: fields.Form) -> Weighed:
    made, reading = fields.read(session, form, catalog_of(term_id).term, course.code)
    return Weighed(form, reading, _read_crn(session, term_id, reading, form), made)


def _create(term_id: int, course: Course, crn: str, made: SectionDetails) -> ResponseReturnValue:
    try:
        section_id = sections.create_section(term_id, course.id, crn, made, visitor().id)
    except NotPossible:  # in the moment since it was read above
        return looks.look(url_for(".new", term_id=term_id))
    told(term_id, section_id)
    name = f"{requisites.shown(course.code)}-{made.number}"
    flash(_("Created: %(name)s. It is a draft until you publish it.", name=name))
    return go(url_for("admin.sections.show", term_id=term_id, section_id=section_id))


def _course(session: Session, course_id: int) -> Course | None:
    found = select(Course).where(Course.id == course_id, Course.deleted_at.is_(None))
    return session.scalar(found)


def _search(session: Session, term_id: int, wanted: str) -> list[Found]:
    """Courses that the words fit, by code."""
    here = (Section.term_id == term_id) & Section.deleted_at.is_(None)
    found = (
        select(Course.id, Course.code, Course.title, func.count(Section.id))
        .outerjoin(Section, (Section.course_id == Course.id) & here)
        .where(Course.deleted_at.is_(None))
        .group_by(Course.id)
        .order_by(Course.code)
    )
    words = terms(wanted)
    courses = (Found(*row) for row in session.execute(found))
    return [each for each in courses if matches(index(each.code, each.title), words)]


def _blank(session: Session, term_id: int, course: Course) -> fields.Form:
    """The form as a course suggests it."""
    numbers = select(Section.number, Section.crn, Section.course_id)
    taken = session.execute(numbers.where(Section.term_id == term_id)).all()
    siblings = {row.number for row in taken if row.course_id == course.id}
    crns = [int(row.crn) for row in taken if row.crn.isascii() and row.crn.isdigit()]
    form = fields.write(
        SectionDetails(
            number=next(each for n in range(1, 10_000) if (each := f"{n:02}") not in siblings),
            title=course.title,
            credits=(course.credits_min, course.credits_max),
            capacity=SEATS,
            waitlist=PLACES,
        )
    )
    form["crn"] = str(max(crns, default=9999) + 1)
    return form


def _read_crn(session: Session, term_id: int, reading: Reading, form: fields.Form) -> str:
    crn = form.get("crn", "").strip()
    if not CRN.fullmatch(crn):
        reading.wrong("crn", _("CRN: give a number or a word of at most 24 characters."))
    elif session.scalar(select(Section.id).where(Section.term_id == term_id, Section.crn == crn)):
        reading.wrong("crn", str(NOT_POSSIBLE["crn_taken"]))
    return crn


def _form(
    session: Session, term_id: int, course: Course, form: fields.Form, reading: Reading
) -> ResponseReturnValue:
    page = render_template(
        "admin/section_edit.html",
        term=catalog_of(term_id).term,
        course=course,
        form=form,
        reading=reading,
        **choices(session, form),
    )
    return page, 422 if reading.errors else 200
