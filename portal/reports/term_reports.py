"""The reports of a term that people can get by mail, as tables with their main figures.

A new report is one entry of REPORTS. Pages, rights, mails and audit entries follow from it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from portal.applications import export
from portal.applications.listing import Filters
from portal.catalog.sections import RUNNING
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.catalog.views import section_order
from portal.core.db import transaction
from portal.core.i18n import _, _l, current_locale
from portal.exchange.exporting import rosters
from portal.exchange.spreadsheets import Row
from portal.ledger.types import SeatCounts
from portal.people.roles import DEPARTMENTAL, Right
from portal.people.visitors import Visitor
from portal.recorder import recorded_state
from portal.registration.next_steps import section_name
from portal.reports import window_files
from portal.reports.models import WindowReport
from portal.reports.underfilled import Limits

WITHHELD = ("email", "year", "level")  # columns of private students that no mail has


@dataclass(frozen=True)
class TermReport:
    """What a report says now: its rows, main figures, page, and what to know about it."""

    rows: Sequence[Row]
    figures: Sequence[tuple[str, int]]
    page: str
    note: str = ""


@dataclass(frozen=True)
class ReportKind:
    """A report: its name, the rights that open it (one is enough), and how it is made.

    `make` returns None if there is nothing to report yet.
    """

    label: Any
    rights: tuple[Right, ...]
    make: Callable[[TermCatalog, Visitor], TermReport | None]

    def open_to(self, who: Visitor) -> bool:
        """Return whether somebody may see it, if only for their departments."""
        return who.may(*self.rights) or bool(who.departments and DEPARTMENTAL & set(self.rights))


def open_to(who: Visitor) -> dict[str, ReportKind]:
    """Return the reports that somebody may see."""
    return {name: kind for name, kind in REPORTS.items() if kind.open_to(who)}


def _counted(catalog: TermCatalog, who: Visitor) -> tuple[list[SectionView], dict[int, SeatCounts]]:
    """Return the open and confirmed sections that somebody may see, with the recorded counts."""
    counts = recorded_state.seats(catalog.term.id)
    found = [
        each
        for each in catalog.sections
        if each.id in counts
        and each.status in RUNNING
        and who.may_in(Right.SEE_SECTIONS, each.department_id)
    ]
    return found, {each.id: counts[each.id] for each in found}


def _seats_table(
    found: Sequence[tuple[SectionView, SeatCounts]],
) -> tuple[list[Row], list[tuple[str, int]]]:
    """Return the rows and the figures of sections with their counts."""
    rows: list[Row] = [
        (
            *(_("Section"), "CRN", _("Title"), _("Capacity"), _("Taken"), _("Waiting")),
            _("Instructors"),
        )
    ]
    for section, seats in found:
        title = section.title or section.course_title
        counts = seats.capacity, seats.taken, seats.waiting
        rows.append(
            (section_name(section), section.crn, title, *counts, "; ".join(section.instructors))
        )
    figures = [
        (_("Sections"), len(found)),
        (_("Seats"), sum(seats.capacity for _section, seats in found)),
        (_("Taken"), sum(seats.taken for _section, seats in found)),
        (_("Waiting"), sum(seats.waiting for _section, seats in found)),
    ]
    return rows, figures


def _seats(catalog: TermCatalog, who: Visitor) -> TermReport:
    sections, counts = _counted(catalog, who)
    found = [(each, counts[each.id]) for each in sorted(sections, key=section_order)]
    return TermReport(*_seats_table(found), f"/admin/terms/{catalog.term.id}/sections")


def _underfilled(catalog: TermCatalog, who: Visitor) -> TermReport:
    limits = Limits.parse({})
    _sections, counts = _counted(catalog, who)
    page = f"/admin/terms/{catalog.term.id}/underfilled"
    note = _("It has the sections with fewer than %(count)s students.", count=limits.fewer)
    return TermReport(*_seats_table(limits.pick(catalog, counts)), page, note)


def _rosters(catalog: TermCatalog, _who: Visitor) -> TermReport:
    """Return the rosters; mail is stored and passed on, so private details stay out of it."""
    head, *people = rosters.rosters(catalog.term.id)
    private = [head.index(name) for name in WITHHELD]
    state, mark = head.index("state"), head.index("private")
    for row in people:
        if row[mark]:
            for column in private:
                row[column] = ""
    enrolled = sum(row[state] == "enrolled" for row in people)
    figures = [(_("Enrollments"), enrolled), (_("Waiting"), len(people) - enrolled)]
    note = _("It has no email, year or level of students who asked for privacy.")
    page = f"/admin/terms/{catalog.term.id}/rosters.csv"
    return TermReport([head, *people], figures, page, note)


def _applications(catalog: TermCatalog, _who: Visitor) -> TermReport:
    rows = list(export.rows(Filters(state="", term=catalog.term.id), current_locale()))
    figures = [(_("Applications"), len(rows) - 1)]
    return TermReport(rows, figures, f"/admin/applications?state=&term={catalog.term.id}")


def _result(catalog: TermCatalog, _who: Visitor) -> TermReport | None:
    return _of_window(catalog, "report", lambda made: window_files.result_rows(catalog, made))


def _fairness(catalog: TermCatalog, _who: Visitor) -> TermReport | None:
    return _of_window(catalog, "fairness", window_files.fairness_rows)


def _of_window(
    catalog: TermCatalog, page: str, rows: Callable[[WindowReport], Iterable[Row]]
) -> TermReport | None:
    """Return a report on the window that ended last; None if none has ended."""
    found = select(WindowReport).where(WindowReport.term_id == catalog.term.id)
    with transaction() as session:
        made = session.scalar(found.order_by(WindowReport.seq.desc()).limit(1))
    if made is None:
        return None
    students = made.result["students"]
    figures = [
        (_("Students"), students["all"]),
        (_("Students who tried to register"), students["asked"]),
        (_("Students with a seat"), students["seated"]),
    ]
    url = f"/admin/terms/{made.term_id}/windows/{made.window_id}/{page}"
    return TermReport(list(rows(made)), figures, url)


SECTIONS = (Right.SEE_SECTIONS,)
REPORTS = {
    "seats": ReportKind(_l("Sections and their seats"), SECTIONS, _seats),
    "underfilled": ReportKind(_l("Under-filled sections"), SECTIONS, _underfilled),
    "rosters": ReportKind(_l("Rosters of all sections"), (Right.SEE_EXPORTS,), _rosters),
    "applications": ReportKind(_l("Applications"), (Right.SEE_APPLICATIONS,), _applications),
    "result": ReportKind(_l("Result of the last window"), (Right.SEE_REPORTS,), _result),
    "fairness": ReportKind(_l("Fairness of the last window"), (Right.SEE_REPORTS,), _fairness),
}
LABELS = {name: kind.label for name, kind in REPORTS.items()}
