"""Under-filled sections: a list of them, by limits, to cancel several in one step."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from flask import Blueprint, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from portal.backend import backend
from portal.catalog import linked_courses, requisites, sections
from portal.catalog.models import Section
from portal.catalog.sections import NotPossible, Stale
from portal.catalog.term_catalog import SectionView, TermCatalog, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.ledger.types import SeatCounts
from portal.recorder import read_with_fallback
from portal.registration.next_steps import section_name
from portal.web import drafts
from portal.web.admin.affected import AffectedStudent, people_of
from portal.web.admin.form_reading import Reading
from portal.web.admin.reasons import read_reason
from portal.web.admin.sections import RUNNING, apply_in_ledger, obstacle
from portal.web.drafts import Form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict


NUMBERS = ("fewer", "percent", "least")
FIRST = 10  # students, until the admin sets limits
DIGITS = 6


@dataclass(frozen=True)
class UnderfilledSection:
    """A section with its seats."""

    card: SectionView
    seats: SeatCounts

    @property
    def share(self) -> float:
        """Return the fraction of its seats that is taken."""
        return self.seats.taken / self.seats.capacity


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
        """Return the limits in an address; the defaults if it has none."""
        if not any(name in args for name in NUMBERS):
            return cls(FIRST)
        fewer, percent, least = (_number(args.get(name, "")) for name in NUMBERS)
        return cls(fewer, percent, least, args.get("subject", ""))

    def args(self) -> dict[str, str]:
        """Return the arguments that `parse` reads back."""
        set_ones = {name: str(value) for name, value in vars(self).items() if value}
        return {"fewer": "0", **set_ones}

    def pick(
        self, offered: TermCatalog, counts: Mapping[int, SeatCounts]
    ) -> list[UnderfilledSection]:
        """Return the under-filled sections, the emptiest first."""
        return sorted(self._found(offered, counts), key=lambda few: (few.share, few.seats.taken))

    def _found(
        self, offered: TermCatalog, counts: Mapping[int, SeatCounts]
    ) -> Iterator[UnderfilledSection]:
        for card in offered.sections:
            seats = counts.get(card.id)
            if card.status in RUNNING and seats and seats.capacity and self._fits(card, seats):
                yield UnderfilledSection(card, seats)

    def _fits(self, card: SectionView, seats: SeatCounts) -> bool:
        if seats.capacity < self.least or self.subject not in {"", card.subject_code}:
            return False
        if wanted(seats):
            return False
        return seats.taken < self.fewer or seats.taken * 100 < self.percent * seats.capacity


def wanted(seats: SeatCounts) -> bool:
    """Return whether it is full, or a student who may have a seat waits for it."""
    return full(seats) or seats.waiting > seats.passed


def full(seats: SeatCounts) -> bool:
    """Return whether no seat is free, not even a reserved one."""
    return not (seats.open or seats.keeping)


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else 0


# Under-filled sections in a list, to cancel several in one step.

bp = Blueprint("underfilled", __name__, url_prefix="/terms/<int:term_id>/few")

MOST = 200  # sections in the list, and in one step


@dataclass(frozen=True)
class SectionToCancel:
    """A section to cancel, the version shown, and the students affected."""

    card: SectionView
    version: int
    seats: SeatCounts | None
    prior: int
    partners: list[str]  # its corequisite courses
    people: list[AffectedStudent]  # with a seat or a waitlist position

    @property
    def mind(self) -> list[str]:
        """Return reasons not to cancel it."""
        said = []
        if self.seats and full(self.seats):
            said.append(_("It is full."))
        if self.seats and self.seats.waiting:
            waiting = self.seats.waiting
            said.append(_n("%(num)s student waits.", "%(num)s students wait.", waiting))
        if self.partners:
            said.append(_("Taken along with %(courses)s", courses=", ".join(self.partners)))
        return said

    @property
    def known(self) -> int:
        """Return how many students with a seat are known by name."""
        return self.seats.taken - self.prior if self.seats else 0


@bp.get("")
@requires("admin")
def index(term_id: int) -> ResponseReturnValue:
    """Render the under-filled sections, the emptiest first; or the effects of canceling some."""
    offered, reading, form = catalog_of(term_id), Reading(), drafts.shown_draft()
    if form is None:
        return _list(offered, reading, request.args)
    cards = _ticked(offered, reading, form)
    if reading.errors:
        return _list(offered, reading, form)
    if "confirmed" in form:
        read_reason(reading, form)
    if refused := form.get("refused"):
        reading.wrong("", refused)
    return _preview(offered, cards, reading, form)


@bp.post("")
@requires("admin")
def cancel(term_id: int) -> ResponseReturnValue:
    """Cancel all of them or none if confirmed; otherwise redirect to the effects."""
    offered, reading = catalog_of(term_id), Reading()
    cards = _ticked(offered, reading, request.form)
    why = read_reason(reading, request.form)
    if reading.errors or "confirmed" not in request.form:
        return drafts.show_draft(request.path)
    if refused := _do(offered, cards, why):
        return drafts.show_draft(request.path, refused)
    apply_in_ledger(term_id, *(card.id for card in cards))
    flash(_n("Canceled: %(num)s section.", "Canceled: %(num)s sections.", len(cards)))
    limits = urlencode(Limits.parse(request.form).args())
    return go(f"{url_for('admin.underfilled.index', term_id=term_id)}?{limits}")


def _ticked(offered: TermCatalog, reading: Reading, form: Form) -> list[SectionView]:
    cards = offered.some(form.getlist("section", type=int)[: MOST + 1])
    if not cards:
        reading.wrong("", _("Tick the sections that are to be canceled."))
    if len(cards) > MOST:
        reading.wrong("", _("No more than %(most)s sections at once.", most=MOST))
    return cards


def _do(offered: TermCatalog, cards: list[SectionView], why: str) -> str:
    """Cancel them; return why none was canceled, or blank."""
    seen = [
        sections.SeenSection(
            offered.term.id, card.id, request.form.get(f"version_{card.id}", 0, type=int)
        )
        for card in sorted(cards, key=lambda card: card.id)
    ]
    try:
        sections.change_status("cancel", seen, visitor().id, why)
    except Stale as stale:
        if sections.done_before("cancel", seen, visitor().id):  # the same button press again
            return ""
        return _nothing(offered, stale.section_id, _("it has been changed meanwhile"))
    except NotPossible as refused:
        said = obstacle("cancel", refused.code).rstrip(".")
        return _nothing(offered, refused.section_id, said)
    return ""


def _nothing(offered: TermCatalog, section: int, why: str) -> str:
    card = offered.section(section)
    name = section_name(card) if card else str(section)
    return _("Nothing was canceled. %(name)s: %(why)s. Look once more.", name=name, why=why)


def _list(offered: TermCatalog, reading: Reading, form: Form) -> ResponseReturnValue:
    limits = Limits.parse(form)
    found = limits.pick(offered, read_with_fallback.seats(offered.term.id))
    page = render_template(
        "admin/few.html",
        term=offered.term,
        limits=limits,
        subjects=offered.subjects,
        found=found[:MOST],
        total=len(found),
        ticked=set(form.getlist("section", type=int)),
        reading=reading,
    )
    return page, 422 if reading.errors else 200


def _preview(
    offered: TermCatalog, cards: list[SectionView], reading: Reading, form: Form
) -> ResponseReturnValue:
    doomed = _doomed(offered, cards)
    page = render_template(
        "admin/few_confirm.html",
        term=offered.term,
        limits=Limits.parse(form),
        doomed=doomed,
        students=sum(each.known for each in doomed),
        waiting=sum(each.seats.waiting for each in doomed if each.seats),
        prior=sum(each.prior for each in doomed),
        reading=reading,
        reason=form.get("reason", ""),
    )
    return page, 422 if reading.errors else 200


def _doomed(offered: TermCatalog, cards: list[SectionView]) -> list[SectionToCancel]:
    ids = [card.id for card in cards]
    counts = backend().ledger.seats_of(offered.term.id, ids)
    found = select(Section.id, Section.version, Section.prior_enrolled).where(Section.id.in_(ids))
    with transaction() as session:
        stored = {row.id: row for row in session.execute(found)}
        people = people_of(session, ids)
    return [
        SectionToCancel(
            card,
            stored[card.id].version,
            counts.get(card.id),
            stored[card.id].prior_enrolled,
            [
                requisites.shown(offered.course_code(each) or "")
                for each in linked_courses.courses(card, offered)
            ],
            people[card.id],
        )
        for card in cards
        if card.id in stored
    ]
