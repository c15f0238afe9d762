"""Under-filled sections: which match the limits, and what canceling them means."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import select

from portal.backend import backend
from portal.catalog import linked_courses, requisites
from portal.catalog.models import Section
from portal.catalog.sections import RUNNING
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.core.db import transaction
from portal.core.form_fields import whole_number
from portal.core.i18n import _, _n
from portal.ledger.types import SeatCounts
from portal.reports.effects.students import AffectedStudent, people_of

NUMBERS = ("fewer", "percent", "least")
FIRST = 10  # students, until the admin sets limits
DIGITS = 6


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
    def parse(cls, args: Mapping[str, str]) -> "Limits":
        """Return the limits in an address or a form; the defaults if it has none."""
        if not any(name in args for name in NUMBERS):
            return cls(FIRST)
        fewer, percent, least = (whole_number(args.get(name, ""), DIGITS) or 0 for name in NUMBERS)
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
        if _is_full(seats) or seats.waiting > seats.skipped:
            return False
        return seats.taken < self.fewer or seats.taken * 100 < self.percent * seats.capacity


@dataclass(frozen=True)
class SectionToCancel:
    """A section to cancel, the version shown, and the affected students."""

    view: SectionView
    version: int
    known: int  # students with a seat who are known by name
    prior: int  # seats taken before the import
    waiting: int
    warnings: list[str]
    people: list[AffectedStudent]  # with a seat or a waitlist position


def sections_to_cancel(catalog: TermCatalog, chosen: list[SectionView]) -> list[SectionToCancel]:
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
    if seats and _is_full(seats):
        found.append(_("It is full."))
    if seats and seats.waiting:
        found.append(
            _n("%(num)s student is waiting.", "%(num)s students are waiting.", seats.waiting)
        )
    needed = linked_courses.courses(section, catalog)
    if codes := [requisites.shown(catalog.course_code(each) or "") for each in needed]:
        found.append(_("Must be taken together with %(courses)s", courses=", ".join(codes)))
    return found


def _is_full(seats: SeatCounts) -> bool:
    """Return whether no seat is free, not even a reserved one."""
    return not (seats.open or seats.free_reserved)
