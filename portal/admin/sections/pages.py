"""The sections of a term as they fill, and one of them with all that is known of it."""

from dataclasses import dataclass

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.admin import affected
from portal.admin.sections.cautions import Subject, cautions
from portal.admin.sections.query import Sifted
from portal.admin.sections.words import ACTIONS, DEEDS
from portal.backend import backend
from portal.catalog import cohort_names, linked_courses, requisites
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Course, Section
from portal.catalog.section_fields import FIELDS
from portal.catalog.sections import (
    EDITABLE,
    STATUS_CHANGES,
    StoredSection,
    find_section,
    status_obstacle,
)
from portal.catalog.term_catalog import TermCatalog, catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.types import SeatCounts
from portal.recorder import read_with_fallback
from portal.recorder.events import milliseconds
from portal.registration.seat_counts import is_active
from portal.reports import audit_differences, audit_subjects, audit_trail
from portal.reports.audit_trail import Entry
from portal.web.http.access import requires

bp = Blueprint("sections", __name__, url_prefix="/terms/<int:term_id>/sections")

PAGE = 100


@dataclass(frozen=True)
class Deleted:
    """A section that was taken off every list."""

    id: int
    name: str
    crn: str
    title: str
    on: str


@dataclass(frozen=True)
class Reserved:
    """Seats kept for a cohort, how many of them are taken, and if their time is `over`."""

    whom: str
    until: str
    seats: int
    held: int
    over: bool


@bp.get("")
@requires("admin")
def index(term_id: int) -> ResponseReturnValue:
    """Sections that fit the search, drafts and canceled ones too, a hundred at a time."""
    offered, counts = catalog_of(term_id), read_with_fallback.seats(term_id)
    wanted = Sifted.parse(request.args)
    found = wanted.pick(offered, counts)
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(1, request.args.get("page", 1, type=int)), pages)
    return render_template(
        "admin/sections.html",
        term=offered.term,
        terms=[each for each in live_terms() if each.id != term_id],
        wanted=wanted,
        unread=[_("Give a whole number.")] if _unread(request.args.get("fewer", "")) else [],
        query=wanted.query,
        subjects=offered.subjects,
        cards=found[(page - 1) * PAGE : page * PAGE],
        counts=counts,
        sums=wanted.sums(found, counts),
        total=len(found),
        page=page,
        pages=pages,
    )


def _unread(number: str) -> bool:
    """Whether that was meant as a number and is none."""
    text = number.strip()
    return bool(text) and not (text.isascii() and text.isdigit())


@bp.get("/deleted")
@requires("admin")
def deleted(term_id: int) -> ResponseReturnValue:
    """Sections that have been deleted, to bring them back."""
    term = catalog_of(term_id).term
    found = (
        select(Section, Course.code)
        .join(Course)
        .where(Section.term_id == term_id, Section.deleted_at.is_not(None))
        .order_by(Section.deleted_at.desc())
    )
    face = LocalClock(backend().settings.zone)
    with transaction() as session:
        rows = [
            Deleted(
                each.id,
                f"{requisites.shown(code)}-{each.number}",
                each.crn,
                each.title,
                face.short(each.deleted_at),
            )
            for each, code in session.execute(found)
            if each.deleted_at
        ]
    return render_template("admin/sections_deleted.html", term=term, sections=rows)


@bp.get("/<int:section_id>")
@requires("admin")
def show(term_id: int, section_id: int) -> ResponseReturnValue:
    """One section: what is set, what an admin should know, and what has been done to it."""
    offered = catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id)
        warnings = _cautions(session, stored, offered)
        clashing = _clashing(session, stored, offered)
        done = audit_trail.of(session, stored.subject)
    return render_template(
        "admin/section.html",
        term=offered.term,
        stored=stored,
        seats=read_with_fallback.seats_of(term_id, [section_id]).get(section_id),
        facts=[
            (field.label, field.lines(getattr(stored.details, name)))
            for name, field in FIELDS.items()
            if name != "reserves"  # has a table of its own, with how many of them are taken
        ],
        cautions=warnings,
        clashing=clashing,
        partners=_partners(stored, offered),
        reserves=_reserves(stored),
        counts=_counts(stored),
        done=_told(done),
        deeds={name: DEEDS[name] for name in STATUS_CHANGES if not status_obstacle(name, stored)},
        verbs=ACTIONS,
        editable=stored.status in EDITABLE and not stored.deleted,
    )


def _told(done: list[Entry]) -> list[tuple[Entry, str]]:
    """Each deed with what it changed, in a line."""
    names = audit_subjects.named(key for each in done for key in audit_differences.mentioned(each))
    times = LocalClock(backend().settings.zone)
    return [(each, audit_differences.short(each, names, times)) for each in done]


def find_or_404(session: Session, term_id: int, section_id: int) -> StoredSection:
    """The section as it is stored."""
    return find_section(session, term_id, section_id) or abort(404)


def _cautions(session: Session, stored: StoredSection, offered: TermCatalog) -> list[str]:
    if stored.deleted or stored.status == "CANCELED":
        return []
    subject = Subject(stored.id, stored.course_code, stored.details, offered)
    return cautions(session, subject)


def _clashing(
    session: Session, stored: StoredSection, offered: TermCatalog
) -> list[affected.Person]:
    """Students with a seat who have another section at the same time."""
    if stored.deleted or stored.status == "CANCELED":
        return []
    return affected.clashing(session, stored.id, offered, stored.details.meetings)


def _reserves(stored: StoredSection) -> list[Reserved]:
    """The cohorts for which seats are kept, and how many of them they have by now."""
    held = read_with_fallback.reserved(stored.term_id, stored.id) if stored.details.reserves else {}
    face = LocalClock(backend().settings.zone)
    return [
        Reserved(
            cohort_names.describe(each.cohort),
            face.full(milliseconds(each.until)) if each.until else "",
            each.seats,
            held.get(each.id, 0),
            over=not is_active(each),
        )
        for each in stored.details.reserves
    ]


def _counts(stored: StoredSection) -> dict[int, SeatCounts]:
    """The counts of all sections with which it shares seats."""
    ids = sorted(stored.pool.ids) if stored.pool else []
    return read_with_fallback.seats_of(stored.term_id, ids)


def _partners(stored: StoredSection, offered: TermCatalog) -> list[str]:
    """The codes of courses that are taken along with it, each naming the other."""
    card = offered.section(stored.id)
    if card is None:
        return []
    found = (offered.course_code(course) for course in linked_courses.courses(card, offered))
    return [requisites.shown(code) for code in found if code]
