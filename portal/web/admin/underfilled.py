"""Under-filled sections: a list of them, by limits, to cancel several in one step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flask import Blueprint, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from portal.backend import backend
from portal.catalog import linked_courses, requisites, sections
from portal.catalog.models import Section
from portal.catalog.sections import NotPossible, SeenSection, Stale
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.ledger.types import SeatCounts
from portal.recorder import read_with_fallback
from portal.registration.next_steps import section_name
from portal.web import drafts
from portal.web.admin.affected import AffectedStudent, people_of
from portal.web.admin.sections import RUNNING, apply_in_ledger, obstacle
from portal.web.forms import ReasonForm
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

NUMBERS = ("fewer", "percent", "least")
FIRST = 10  # students, until the admin sets limits
DIGITS = 6
MOST = 200  # sections in the list, and in one step

bp = Blueprint("underfilled", __name__, url_prefix="/terms/<int:term_id>/underfilled")


@dataclass(frozen=True)
class Limits:
    """Limits: a section with fewer than `fewer` students, or under `percent` of its seats, matches.

    0 means no limit. Sections with fewer than `least` seats, of other subjects, full ones, and
    those with a waitlist never match.
    """

    fewer: int = 0
    percent: int = 0
    least: int = 0
    subject: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "Limits":
        """Return the limits in an address or a form; the defaults if it has none."""
        if not any(name in args for name in NUMBERS):
            return cls(FIRST)
        texts = (args.get(name, "").strip() for name in NUMBERS)
        fewer, percent, least = (
            int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else 0
            for text in texts
        )
        return cls(fewer, percent, least, args.get("subject", ""))

    def args(self) -> dict[str, str]:
        """Return the arguments that `parse` reads back."""
        set_ones = {name: str(value) for name, value in vars(self).items() if value}
        return {"fewer": "0", **set_ones}

    def pick(
        self, catalog: TermCatalog, counts: Mapping[int, SeatCounts]
    ) -> list[tuple[SectionView, SeatCounts]]:
        """Return the under-filled sections, the emptiest first."""
        found = [
            (section, counts[section.id])
            for section in catalog.sections
            if section.id in counts and self._matches(section, counts[section.id])
        ]
        return sorted(found, key=lambda each: (each[1].taken / each[1].capacity, each[1].taken))

    def _matches(self, section: SectionView, seats: SeatCounts) -> bool:
        if section.status not in RUNNING or not seats.capacity or seats.capacity < self.least:
            return False
        if self.subject not in {"", section.subject_code}:
            return False
        if is_full(seats) or seats.waiting > seats.passed:
            return False
        return seats.taken < self.fewer or seats.taken * 100 < self.percent * seats.capacity


@dataclass(frozen=True)
class SectionToCancel:
    """A section to cancel, the version shown, and the affected students."""

    card: SectionView
    version: int
    known: int  # students with a seat who are known by name
    prior: int  # seats taken before the import
    waiting: int
    warnings: list[str]
    people: list[AffectedStudent]  # with a seat or a waitlist position


@bp.get("")
@requires("admin")
def index(term_id: int) -> ResponseReturnValue:
    """Render the under-filled sections, the emptiest first; or the effects of canceling some."""
    catalog, draft = catalog_of(term_id), drafts.shown_draft()
    if draft is None:
        return _list_page(catalog, ReasonForm(None), request.args)
    form = ReasonForm(draft)
    ticked = _ticked(catalog, draft, form)
    if form.errors:
        return _list_page(catalog, form, draft)
    if "confirmed" in draft:
        form.validate()
    if draft["refused"]:
        form.refuse(draft["refused"])
    to_cancel = _sections_to_cancel(catalog, ticked)
    page = render_template(
        "admin/underfilled_review.html",
        term=catalog.term,
        limits=Limits.parse(draft),
        to_cancel=to_cancel,
        students=sum(each.known for each in to_cancel),
        waiting=sum(each.waiting for each in to_cancel),
        prior=sum(each.prior for each in to_cancel),
        form=form,
    )
    return page, 422 if form.errors else 200


@bp.post("")
@requires("admin")
def cancel(term_id: int) -> ResponseReturnValue:
    """Cancel all of them or none if confirmed; otherwise redirect to the effects."""
    catalog, form, by = catalog_of(term_id), ReasonForm(), visitor().id
    ids = sorted(section.id for section in _ticked(catalog, request.form, form))
    if form.errors or not form.validate() or "confirmed" not in request.form:
        return drafts.show_draft(request.path)
    versions = {each: request.form.get(f"version_{each}", 0, type=int) for each in ids}
    seen = [SeenSection(term_id, each, version) for each, version in versions.items()]
    try:
        sections.change_status("cancel", seen, by, form.reason.data)
    except Stale as stale:
        if not sections.done_before("cancel", seen, by):  # otherwise the same form was sent again
            changed = _("someone else has changed it")
            return _nothing_canceled(catalog, stale.section_id, changed)
    except NotPossible as refused:
        why = obstacle("cancel", refused.code).rstrip(".")
        return _nothing_canceled(catalog, refused.section_id, why)
    apply_in_ledger(term_id, *ids)
    flash(_n("Canceled: %(num)s section.", "Canceled: %(num)s sections.", len(ids)))
    limits: dict[str, Any] = Limits.parse(request.form).args()
    return go(url_for("admin.underfilled.index", term_id=term_id, **limits))


def is_full(seats: SeatCounts) -> bool:
    """Return whether no seat is free, not even a reserved one."""
    return not (seats.open or seats.keeping)


def _ticked(
    catalog: TermCatalog, sent: "MultiDict[str, str]", form: ReasonForm
) -> list[SectionView]:
    """Return the chosen sections; add an error if there are none or too many."""
    chosen = catalog.some(sent.getlist("section", type=int)[: MOST + 1])
    if not chosen:
        form.refuse(_("Select the sections to cancel."))
    if len(chosen) > MOST:
        form.refuse(_("Select at most %(most)s sections.", most=MOST))
    return chosen


def _nothing_canceled(catalog: TermCatalog, section_id: int, why: str) -> ResponseReturnValue:
    section = catalog.section(section_id)
    name = section_name(section) if section else str(section_id)
    refusal = _(
        "Nothing was canceled. %(name)s: %(why)s. Check the list and try again.", name=name, why=why
    )
    return drafts.show_draft(request.path, refusal)


def _list_page(
    catalog: TermCatalog, form: ReasonForm, sent: "MultiDict[str, str]"
) -> ResponseReturnValue:
    limits = Limits.parse(sent)
    found = limits.pick(catalog, read_with_fallback.seats(catalog.term.id))
    page = render_template(
        "admin/underfilled.html",
        term=catalog.term,
        limits=limits,
        subjects=catalog.subjects,
        found=found[:MOST],
        total=len(found),
        ticked=set(sent.getlist("section", type=int)),
        form=form,
    )
    return page, 422 if form.errors else 200


def _sections_to_cancel(catalog: TermCatalog, chosen: list[SectionView]) -> list[SectionToCancel]:
    ids = [section.id for section in chosen]
    counts = backend().ledger.seats_of(catalog.term.id, ids)
    found = select(Section.id, Section.version, Section.prior_enrolled).where(Section.id.in_(ids))
    with transaction() as session:
        stored = {row.id: row for row in session.execute(found)}
        people = people_of(session, ids)
    to_cancel = []
    for section in (each for each in chosen if each.id in stored):
        row, seats = stored[section.id], counts.get(section.id)
        known = seats.taken - row.prior_enrolled if seats else 0
        to_cancel.append(
            SectionToCancel(
                section,
                row.version,
                known,
                row.prior_enrolled,
                seats.waiting if seats else 0,
                _warnings(catalog, section, seats),
                people[section.id],
            )
        )
    return to_cancel


def _warnings(catalog: TermCatalog, section: SectionView, seats: SeatCounts | None) -> list[str]:
    """Return reasons not to cancel the section."""
    found = []
    if seats and is_full(seats):
        found.append(_("It is full."))
    if seats and seats.waiting:
        found.append(
            _n("%(num)s student is waiting.", "%(num)s students are waiting.", seats.waiting)
        )
    needed = linked_courses.courses(section, catalog)
    if codes := [requisites.shown(catalog.course_code(each) or "") for each in needed]:
        found.append(_("Must be taken together with %(courses)s", courses=", ".join(codes)))
    return found
