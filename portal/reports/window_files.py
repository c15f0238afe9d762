"""The reports on a window as tables: for their pages, and as CSV files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from portal.catalog.term_catalog import TermCatalog
from portal.core.i18n import _
from portal.exchange.spreadsheets import Row
from portal.registration.reasons import label
from portal.reports import fairness, results
from portal.reports.fairness import FEWEST, hidden_cohorts, hidden_groups
from portal.reports.models import WindowReport

Group = dict[str, Any]
COUNTED = ("students", "asked", "seated", "seats", "waiting")  # for each cohort


@dataclass(frozen=True)
class Table:
    """One way to divide the students: groups in order, and those too small to be shown."""

    kind: str
    title: str
    rows: list[Group]
    hidden: set[str]


def fairness_tables(made: WindowReport) -> list[Table]:
    """Return the outcomes of students, by each way to divide them."""
    found = made.fairness["tables"]
    tables = []
    for kind, title in fairness.KINDS.items():
        rows = sorted(found.get(kind, ()), key=lambda row: fairness.group_order(kind, row["name"]))
        tables.append(Table(kind, str(title), rows, hidden_groups(rows)))
    return tables


def fairness_rows(made: WindowReport) -> Iterator[Row]:
    """Yield the rows of the fairness report; small groups show no more than on the page."""
    yield (
        *(_("Grouping"), _("Group"), _("Tried to register"), _("Got their first choice")),
        *(_("With a seat"), _("Median time (s)"), _("90th percentile time (s)")),
        _("Students refused, by reason"),
    )
    for table in fairness_tables(made):
        for row in table.rows:
            yield table.title, fairness.group_name(table.kind, row["name"]), *_outcome(table, row)
    if bands := fairness.promotions_by_band(made.fairness):
        yield ()
        yield _("Group"), _("Promoted"), _("Promoted if first come, first served")
        hidden = fairness.hidden_bands(bands)
        for row in bands:
            counts = row["promoted"], row["first_come"]
            small = (_("hidden (small group)"),)
            yield row["band"], *(small if row["band"] in hidden else counts)


def result_rows(offered: TermCatalog, made: WindowReport) -> Iterator[Row]:
    """Yield the rows of the result: sections, cohorts, refusals, and waitlists."""
    counts = ("code", "crn", "capacity", "taken", "waiting", "given", "refused")
    placed = ("code", "crn", "number", "name", "position", "why")
    yield (
        *(_("Section"), "CRN", _("Capacity"), _("Taken"), _("Waiting")),
        *(_("Enrolled"), _("Refused")),
    )
    yield from ([row[part] for part in counts] for row in results.sections(offered, made))
    yield ()
    yield (
        *(_("Year"), _("Level"), _("Students"), _("Tried to register"), _("With a seat")),
        *(_("Seats"), _("Waiting")),
    )
    yield from _cohorts(made.result["cohorts"])
    yield ()
    yield _("Reason"), _("Refusals"), _("Students")
    for row in made.result["reasons"]:
        yield label(row["code"]), row["refusals"], row["students"]
    yield ()
    yield _("Section"), "CRN", _("Student"), _("Name"), _("Position"), _("Skipped")
    yield from ([row[part] for part in placed] for row in results.waiters(offered, made))


def _outcome(table: Table, row: Group) -> tuple[object, ...]:
    if row["name"] in table.hidden:
        return (_("hidden (small group)"),)
    often = sorted(row["reasons"].items(), key=lambda each: -each[1])
    parts = (f"{label(code)} {count}" for code, count in often if count >= FEWEST)
    waits = (None if row[name] is None else row[name] / 1000 for name in ("half", "most"))
    return row["asked"], row["got"], row["seated"], *waits, "; ".join(parts)


def _cohorts(rows: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each cohort; small ones show no more than on the page."""
    hidden = hidden_cohorts(rows)
    for row in rows:
        named = (row["year"], row["level"])
        if named in hidden:
            yield *named, row["students"], _("hidden (small group)") if row["asked"] else 0
        else:
            yield *named, *(row[part] for part in COUNTED)
