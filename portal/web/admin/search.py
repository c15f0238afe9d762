"""One search for everything: students, sections, courses, instructors, rooms and receipts."""

from collections.abc import Iterator
from dataclasses import dataclass

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.catalog import deletion, requisites, rooms
from portal.catalog.search import Query
from portal.catalog.search import terms as words
from portal.catalog.term_catalog import catalog_of, current_terms, offered_terms
from portal.core.db import transaction
from portal.core.i18n import _
from portal.core.sorting import Sorting
from portal.people import instructors, student_records
from portal.people.roles import Right
from portal.registration.next_steps import section_name
from portal.web.admin.receipts import find_receipt
from portal.web.admin.students import only_advisees_of
from portal.web.http.access import requires, visitor
from portal.web.paging import search_text

bp = Blueprint("search", __name__, url_prefix="/search")

SHOWN = 5  # of each kind; a link leads to the others


@dataclass(frozen=True)
class Hit:
    """Something that matches: its name, what tells it from others, and its page."""

    name: str
    about: str
    address: str
    exact: bool = False  # its number, CRN or code is what was searched


@dataclass(frozen=True)
class Hits:
    """What matches of one kind, and the page that lists all of them if there are more."""

    title: str
    hits: list[Hit]
    all: str = ""


@bp.get("")
@requires(Right.SEE_STUDENTS, Right.SCHEDULE, Right.ADVISE)
def index() -> ResponseReturnValue:
    """Render what matches the search, a few of each kind that the visitor may see.

    Go to the page of the one thing that matches, if its number, CRN or code was searched.
    """
    wanted = search_text()[:160]
    found: list[Hits] = []
    if wanted:
        with transaction() as session:
            found = [each for each in _found(session, wanted) if each.hits]
    match [hit for each in found for hit in each.hits]:
        case [Hit(exact=True, address=address)]:
            return redirect(address, 303)
    return render_template("admin/search.html", wanted=wanted, found=found)


def _found(session: Session, wanted: str) -> Iterator[Hits]:
    may = visitor().may
    if may(Right.SEE_RECEIPTS) and (receipt := find_receipt(wanted)):
        address = url_for("admin.receipts.show", code=receipt.code)
        yield Hits(_("Receipt"), [Hit(receipt.code, "", address, exact=True)])
    if may(Right.SEE_STUDENTS, Right.ADVISE):
        yield _students(session, wanted)
    if may(Right.SEE_SECTIONS, Right.SCHEDULE):
        yield from _sections()
    if may(Right.SEE_SECTIONS):  # a scheduler may not open courses
        yield _courses(session, wanted)
    if may(Right.SEE_INSTRUCTORS):
        yield _instructors(session, wanted)
    if may(Right.SEE_SECTIONS, Right.SCHEDULE):
        yield from _rooms(session, wanted)


def _hits(title: str, found: list[Hit], every: str, *, more: bool = False) -> Hits:
    """Return the first hits, and the page `every` if there are more."""
    return Hits(title, found[:SHOWN], every if more or len(found) > SHOWN else "")


def _students(session: Session, wanted: str) -> Hits:
    by_name = Sorting.parse(student_records.SORTS, {})
    which = student_records.advised_by(only_advisees_of())
    found, more = student_records.search(session, wanted, 1, by_name, which)
    hits = [
        Hit(
            each.name,
            each.number,
            url_for("admin.students.show", student_id=each.id),
            exact=each.number == wanted,
        )
        for each in found
    ]
    return _hits(_("Students"), hits, url_for("admin.students.index", q=wanted), more=more)


def _sections() -> Iterator[Hits]:
    """Yield the sections of each term that is not archived, the latest term first."""
    query = Query.parse(request.args)
    terms = current_terms() if words(query.text) else []  # signs alone would match every section
    for term in terms:
        found = [
            each
            for each in catalog_of(term.id).search(Query(text=query.text))
            if visitor().may_in(Right.SEE_SECTIONS, each.department_id)
        ]
        hits = [
            Hit(
                f"{section_name(each)} {each.title or each.course_title}",
                f"CRN {each.crn}",
                url_for("admin.sections.show", term_id=term.id, section_id=each.id),
                exact=each.crn == query.text,
            )
            for each in found[: SHOWN + 1]
        ]
        every = url_for("admin.sections.index", term_id=term.id, q=query.text)
        yield _hits(_("Sections of %(term)s", term=term.name), hits, every)


def _courses(session: Session, wanted: str) -> Hits:
    found, more = deletion.records(session, "course", wanted, 1, deleted=False)
    hits = [
        Hit(
            f"{requisites.shown(each.code)} {each.title}",
            "",
            url_for("admin.course_editing.show", course_id=each.id),
        )
        for each in found
    ]
    every = url_for("admin.catalog.index", records="course", q=wanted)
    return _hits(_("Courses"), hits, every, more=more)


def _instructors(session: Session, wanted: str) -> Hits:
    by_name = Sorting.parse(instructors.SORTS, {})
    found, more = instructors.search(session, wanted, 1, by_name, without=False)
    hits = [
        Hit(each.name, each.department, url_for("admin.instructors.show", instructor_id=each.id))
        for each in found
    ]
    every = url_for("admin.instructors.index", q=wanted)
    return _hits(_("Instructors"), hits, every, more=more)


def _rooms(session: Session, wanted: str) -> Iterator[Hits]:
    """Yield the rooms, whose pages show the latest term; nothing if there is no term."""
    for term in (offered_terms() or current_terms())[:1]:
        found = rooms.search(session, wanted, SHOWN + 1)
        hits = [
            Hit(each.name, "", url_for("admin.rooms.show", term_id=term.id, room_id=each.id))
            for each in found
        ]
        yield _hits(_("Rooms"), hits, url_for("admin.rooms.index", term_id=term.id, q=wanted))
