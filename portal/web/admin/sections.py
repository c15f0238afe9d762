"""The sections of a term: the list, one section, and its publishing, canceling or deleting."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import cohort_names, linked_courses, requisites, sections
from portal.catalog.local_time import local_clock
from portal.catalog.models import Course, Section
from portal.catalog.search import Query
from portal.catalog.section_fields import FIELDS
from portal.catalog.sections import (
    RUNNING,
    STATUS_CHANGES,
    NotPossible,
    SeenSection,
    Stale,
    StoredSection,
    find_section,
)
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of, current_terms
from portal.catalog.views import section_order
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.core.form_fields import whole_number
from portal.core.i18n import _, _l, _n
from portal.core.moments import milliseconds
from portal.core.sorting import Sorting
from portal.exchange.importing.history import ImportedSection, imports_of
from portal.exchange.importing.review import SORTS as SORTS_OF_CHANGES
from portal.exchange.importing.unread import UnreadValues, drafts_of_unread, unread_values
from portal.ledger.types import SeatCounts
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.seat_counts import is_active, totals
from portal.reports import audit_labels, audit_trail
from portal.reports.effects import section_warnings, students
from portal.reports.effects import sections as effects
from portal.web import confirm
from portal.web.admin.audit_trail import with_differences
from portal.web.confirm import Confirmation, seen_number
from portal.web.forms import OptionalReasonForm, ReasonForm, Sent
from portal.web.http.access import demand, requires, visitor
from portal.web.paging import count_pages, page_number
from portal.windows.warmup import send_sections

bp = Blueprint("sections", __name__, url_prefix="/terms/<int:term_id>/sections")

PAGE = 100  # sections
DIGITS = 6  # of a number of seats
SORTS = ("section", "meets", "instructor", "seats")
STATUSES = ("NEW", "OPEN", "CONFIRMED", "CANCELED")


@dataclass(frozen=True)
class StatusPage:
    """The texts of a page that confirms a change of the status."""

    name: str
    title: str
    button: str
    done: str  # with a placeholder for the section's name


STATUS_PAGES = {
    "publish": StatusPage(
        _l("Publish"), _l("Publish the section"), _l("Publish section"), _l("Published: %(name)s.")
    ),
    "unpublish": StatusPage(
        _l("Unpublish"),
        _l("Unpublish the section"),
        _l("Unpublish section"),
        _l("A draft again: %(name)s."),
    ),
    "confirm": StatusPage(
        _l("Confirm section"),
        _l("Confirm the section"),
        _l("Confirm section"),
        _l("Confirmed: %(name)s."),
    ),
    "reopen": StatusPage(
        _l("Reopen"),
        _l("Reopen the section"),
        _l("Reopen section"),
        _l("Reopened: %(name)s."),
    ),
    "cancel": StatusPage(
        _l("Cancel section"),
        _l("Cancel the section"),
        _l("Cancel the section"),
        _l("Canceled: %(name)s."),
    ),
    "reoffer": StatusPage(
        _l("Offer again"),
        _l("Offer the section again"),
        _l("Make it a draft"),
        _l("A draft again: %(name)s."),
    ),
    "delete": StatusPage(
        _l("Delete"), _l("Delete the section"), _l("Delete section"), _l("Deleted: %(name)s.")
    ),
    "undelete": StatusPage(
        _l("Restore"),
        _l("Restore the section"),
        _l("Restore section"),
        _l("Restored: %(name)s."),
    ),
}


@dataclass(frozen=True)
class SectionQuery:
    """A query, a status ("" = any), and `fewer`: less than so many seats taken (0 = any)."""

    query: Query
    status: str = ""
    fewer: int = 0

    @classmethod
    def parse(cls, args: Sent) -> "SectionQuery":
        """Return the query of the address; ignore invalid values."""
        status, fewer = args.get("status", ""), whole_number(args.get("fewer", ""), DIGITS)
        return cls(Query.parse(args), status if status in STATUSES else "", fewer or 0)

    def args(self) -> list[tuple[str, str]]:
        """Return the arguments that `parse` reads back as this query."""
        more = [("status", self.status), ("fewer", str(self.fewer or ""))]
        return [*self.query.args(), *((name, value) for name, value in more if value)]

    def pick(self, offered: TermCatalog, counts: Mapping[int, SeatCounts]) -> list[SectionView]:
        """Return the sections of the term that match, sorted.

        With `fewer`, these are running sections that have seats.
        """
        found = offered.search(self.query)
        if self.status:
            found = [each for each in found if each.status == self.status]
        if self.fewer:
            found = [each for each in found if each.status in RUNNING and each.capacity > 0]
            taken = {section: seats.taken for section, seats in counts.items()}
            found = [each for each in found if taken.get(each.id, 0) < self.fewer]
        return found


# The list, and one section


@bp.get("")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def index(term_id: int) -> ResponseReturnValue:
    """Render the sections that match the search, also drafts and canceled ones, page by page."""
    offered, counts = catalog_of(term_id), read_with_fallback.seats(term_id)
    wanted = SectionQuery.parse(request.args)
    sorting = Sorting.parse(SORTS, request.args)
    theirs = [
        each
        for each in wanted.pick(offered, counts)
        if visitor().may_in(Right.SEE_SECTIONS, each.department_id)
    ]
    found = _sorted(theirs, sorting, counts)
    pages = count_pages(len(found), PAGE)
    page = page_number(pages)
    running = [each for each in found if each.status in RUNNING and each.id in counts]
    pools = {each.id: each.pool for each in running if each.pool}
    fewer = request.args.get("fewer", "").strip()
    unread = fewer and whole_number(fewer) is None
    return render_template(
        "admin/sections.html",
        term=offered.term,
        terms=[each for each in current_terms() if each.id != term_id],
        wanted=wanted,
        sorting=sorting,
        unread=[_("Enter a whole number.")] if unread else [],
        query=wanted.query,
        subjects=offered.subjects,
        views=found[(page - 1) * PAGE : page * PAGE],
        counts=counts,
        sums=totals((counts[each.id] for each in running), pools),
        total=len(found),
        page=page,
        pages=pages,
    )


def _sorted(
    found: list[SectionView], sorting: Sorting, counts: Mapping[int, SeatCounts]
) -> list[SectionView]:
    """Return sections sorted by a column; those without a value come last."""
    keys: dict[str, Callable[[SectionView], Any]] = {
        "section": section_order,
        "meets": lambda view: [
            (each.mask & -each.mask, each.start, each.mask)
            for each in view.meetings
            if each.mask and each.start is not None
        ][:1],
        "instructor": lambda view: [name.casefold() for name in view.instructors[:1]],
        "seats": lambda view: [counts[view.id].open] if view.id in counts else [],
    }
    key = keys[sorting.key]
    known = sorted((each for each in found if key(each)), key=key, reverse=sorting.down)
    return [*known, *(each for each in found if not key(each))]


@bp.get("/deleted")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def deleted(term_id: int) -> ResponseReturnValue:
    """Render the deleted sections, with a button to restore each."""
    found = (
        select(Section, Course.code)
        .join(Course)
        .where(Section.term_id == term_id, Section.deleted_at.is_not(None))
        .order_by(Section.deleted_at.desc())
    )
    if not visitor().may(Right.SEE_SECTIONS):
        found = found.where(Course.department_id.in_(visitor().departments))
    with transaction() as session:
        rows = session.execute(found).all()
    term = catalog_of(term_id).term
    return render_template("admin/sections_deleted.html", term=term, sections=rows)


@bp.get("/<int:section_id>")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def show(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render one section: its fields, warnings, and its history."""
    offered = catalog_of(term_id)
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id, Right.SEE_SECTIONS)
        cautions: list[str] = []
        clashing: list[students.AffectedStudent] = []
        if not stored.deleted and stored.status != "CANCELED":
            code, details = stored.course_code, stored.details
            cautions = section_warnings.of_section(session, offered, code, details, stored.id)
            clashing = students.clashing(session, stored.id, offered, details.meetings)
        unread = drafts_of_unread(session, [stored.id])
        cautions = [*map(in_words, unread.values()), *cautions]
        log = audit_trail.latest_about(session, stored.subject)
        imported = imports_of(session, stored.id)
    pooled = sorted(stored.pool.ids) if stored.pool else []
    return render_template(
        "admin/section.html",
        offered=offered,
        term=offered.term,
        stored=stored,
        # Of a deleted section, the ledger knows only that it is closed.
        seats=None
        if stored.deleted
        else read_with_fallback.seats_of(term_id, [section_id]).get(section_id),
        facts=[
            (field.label, field.lines(getattr(stored.details, name)))
            for name, field in FIELDS.items()
            if name != "reserves"  # shown in their own table, with the number taken
        ],
        cautions=cautions,
        clashing=clashing,
        corequisites=_corequisites(stored, offered),
        reserves=_reserves(stored),
        counts=read_with_fallback.seats_of(term_id, pooled),
        done=_by_time(with_differences(log), imported),
        changes={
            action: page
            for action, page in STATUS_PAGES.items()
            if not sections.status_obstacle(action, stored)
        },
        labels=audit_labels,
        sorts=SORTS_OF_CHANGES,
        editable=not stored.obstacle,
    )


def in_words(unread: UnreadValues) -> str:
    """Return what an import could not read of a section."""
    day = local_clock().day(milliseconds(unread.at))
    facts = {"day": day, "file": unread.file, "values": unread.text}
    if not unread.values:
        return _(
            "The values that were unclear in the import of %(day)s (%(file)s) have been read or"
            " entered since. You can publish the section.",
            **facts,
        )
    return _("The import of %(day)s (%(file)s) could not read: %(values)s.", **facts)


def names_of_unread(session: Session, chosen: Mapping[int, str]) -> list[str]:
    """Return a sentence that names the sections with values that an import could not read.

    `chosen` has their names by id.
    """
    unread = unread_values(session, chosen)
    if not unread:
        return []
    names = ", ".join(name for each, name in chosen.items() if each in unread)
    return [
        _n(
            "%(num)s draft has values that an import could not read: %(names)s.",
            "%(num)s drafts have values that an import could not read: %(names)s.",
            len(unread),
            names=names,
        )
    ]


def _by_time(
    log: list[tuple[AuditEntry, str]], imported: list[ImportedSection]
) -> list[tuple[AuditEntry | ImportedSection, str]]:
    """Return entries of the audit trail, each with its differences, and imports, latest first."""
    both: list[tuple[AuditEntry | ImportedSection, str]] = [*log]
    both += [(each, "") for each in imported]
    return sorted(both, key=lambda entry: entry[0].at, reverse=True)


def find_or_404(session: Session, term_id: int, section_id: int, right: Right) -> StoredSection:
    """Return the section as it is stored, if the visitor has the right for its department."""
    stored = find_section(session, term_id, section_id) or abort(404)
    demand(right, stored.department_id)
    return stored


def may_add_rooms() -> bool:
    """Return whether a room that is typed is added to the catalog: rooms are everyone's."""
    return visitor().may(Right.CHANGE_SECTIONS)


def apply_in_ledger(term_id: int, *section_ids: int) -> None:
    """Apply the change in the ledger; while it is unavailable, say that it will follow."""
    if not send_sections(term_id, *section_ids):
        flash(
            _("Saved. The ledger does not respond, so students’ pages are updated when it is back.")
        )


def make_status_change(action: str, several: Sequence[SeenSection], by: int, reason: str) -> None:
    """Make one of STATUS_CHANGES for sections of a term. Raise Stale or NotPossible.

    If they become drafts, students can register until the ledger knows it. So the ledger is asked
    afterwards: if it does not answer, or a student is in one of them, all are published again. If
    this process dies before, `warm_up` publishes those with a student.
    """
    sections.change_status(action, several, by, reason)
    if action != "unpublish":
        return
    term_id, ids = several[0].term_id, [each.section_id for each in several]
    held = effects.held_drafts(term_id, ids)
    if held is None or held:
        for each in several:
            with suppress(Stale, NotPossible):  # a worker has published it
                later = replace(each, version=each.version + 1)
                sections.change_status("publish", [later], by, reason)
        send_sections(term_id, *ids)
        raise NotPossible("untold" if held is None else "in_use", held[0] if held else ids[0])


def _reserves(stored: StoredSection) -> list[dict[str, Any]]:
    """Return the seats reserved for cohorts, and how many of them are taken."""
    reserves = stored.details.reserves
    held = read_with_fallback.reserved(stored.term_id, stored.id) if reserves else {}
    return [
        {
            "cohort": cohort_names.describe(each.cohort),
            "until": local_clock().full(milliseconds(each.until)) if each.until else "",
            "seats": each.seats,
            "held": held.get(each.id, 0),
            "over": not is_active(each),
        }
        for each in reserves
    ]


def _corequisites(stored: StoredSection, offered: TermCatalog) -> list[str]:
    """Return the codes of its corequisite courses, where each names the other."""
    section = offered.section(stored.id)
    if section is None:
        return []
    found = (offered.course_code(course) for course in linked_courses.courses(section, offered))
    return [requisites.shown(code) for code in found if code]


# Changes of the status


@bp.route(f"/<int:section_id>/<any({','.join(STATUS_CHANGES)}):change>", methods=["GET", "POST"])
@requires(Right.CHANGE_SECTIONS, Right.SCHEDULE)
def change_status(term_id: int, section_id: int, change: str) -> ResponseReturnValue:
    """Make one of STATUS_CHANGES of a section, once it is confirmed."""
    with transaction() as session:
        stored = find_or_404(session, term_id, section_id, Right.CHANGE_SECTIONS)
        people = students.people(session, stored.id) if change in {"cancel", "confirm"} else []
        unread = unread_values(session, [stored.id]) if change == "publish" else {}
    now, name, texts = effects.occupancy(stored), stored.name, STATUS_PAGES[change]
    address = url_for(".show", term_id=term_id, section_id=section_id)
    form = ReasonForm() if change == "cancel" else OptionalReasonForm()

    def act(reason: str) -> str | None:
        seen = SeenSection(term_id, section_id, seen_number())
        repeated = sections.done_before(change, [seen], visitor().id)
        if not (repeated and stored.version == seen.version + 1):
            if why := effects.status_refusal(change, stored, now):
                raise confirm.NotPossible(why)
            try:
                make_status_change(change, [seen], visitor().id, reason)
            except Stale:
                form.refuse(_("Someone else has changed this section. Check it and try again."))
                return None
            except NotPossible as error:
                raise confirm.NotPossible(effects.obstacle(change, error.code)) from error
        apply_in_ledger(term_id, section_id)
        return str(texts.done) % {"name": name}

    page = Confirmation(
        title=str(texts.title),
        button=str(texts.button),
        back=(address, name),
        meaning=[*map(in_words, unread.values()), *effects.of_status(change, now)],
        danger=change in {"cancel", "delete"},
        seen={"version": stored.version},
        refusal=effects.status_refusal(change, stored, now),
        template="admin/section_status.html",
        context={"people": people, "term": catalog_of(term_id).term, "stored": stored},
    )
    return confirm.confirm(page, act, form)
