"""Reports on a window that has ended: its result and its fairness, as pages and files."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _
from portal.exchange.spreadsheets import Row
from portal.ledger.types import WindowView
from portal.recorder import read_with_fallback
from portal.registration.reasons import label
from portal.reports import closeout, fairness, results
from portal.reports.fairness import FEWEST, hidden_cohorts, hidden_groups
from portal.reports.models import WindowReport
from portal.web.http.access import requires
from portal.web.http.downloads import download
from portal.windows.phases import phase

bp = Blueprint(
    "window_reports", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>"
)

Group = dict[str, Any]
UNDER = 50  # percent of the seats: sections below it stand out
COUNTED = ("students", "asked", "seated", "seats", "waiting")  # for each cohort
MOST_SHOWN = 100  # rows of a table; the file has all


@bp.get("/report")
@requires("admin")
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the result; before it exists, say when it will."""
    window, made = _window(term_id, window_id), closeout.report(window_id)
    if made is None:
        return _none_yet(term_id, window)
    offered = catalog_of(term_id)
    sections, waiting = results.sections(offered, made), results.waiters(offered, made)
    under = max(0, min(100, request.args.get("under", UNDER, type=int)))
    return render_template(
        "admin/report.html",
        term=offered.term,
        window=window,
        made=made,
        under=under,
        sections=sections,
        few=results.under_filled(sections, under),
        waiters=waiting,
        most=MOST_SHOWN,
        reason=label,
        fewest=FEWEST,
        hidden=hidden_cohorts(made.result["cohorts"]),
    )


@bp.get("/report.csv")
@requires("admin")
def download_report(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the result as a CSV file: sections, cohorts, refusals, and waitlists."""
    made, offered = _made(term_id, window_id), catalog_of(term_id)
    counts = ("code", "crn", "capacity", "taken", "waiting", "given", "refused")
    placed = ("code", "crn", "number", "name", "position", "why")
    rows: list[Row] = [
        (
            _("Section"),
            "CRN",
            *(_("Capacity"), _("Taken"), _("Waiting"), _("Enrolled"), _("Refused")),
        ),
        *([row[part] for part in counts] for row in results.sections(offered, made)),
        (),
        (
            _("Year"),
            _("Level"),
            _("Students"),
            _("Tried to register"),
            _("With a seat"),
            _("Seats"),
            _("Waiting"),
        ),
        *_cohorts(made.result["cohorts"]),
        (),
        (_("Reason"), _("Refusals"), _("Students")),
        *((label(row["code"]), row["refusals"], row["students"]) for row in made.result["reasons"]),
        (),
        (_("Section"), "CRN", _("Student"), _("Name"), _("Position"), _("Skipped")),
        *([row[part] for part in placed] for row in results.waiters(offered, made)),
    ]
    return download(f"result-{window_id}.csv", rows)


def _cohorts(rows: list[dict[str, Any]]) -> Iterator[Row]:
    """Yield a row for each cohort; small ones show no more than on the page."""
    hidden = hidden_cohorts(rows)
    for row in rows:
        named = (row["year"], row["level"])
        if named in hidden:
            yield *named, row["students"], _("hidden (small group)") if row["asked"] else 0
        else:
            yield *named, *(row[part] for part in COUNTED)


@dataclass(frozen=True)
class Table:
    """One way to divide the students: groups in order, and those too small to be shown."""

    kind: str
    title: str
    rows: list[Group]
    hidden: set[str]


@bp.get("/fairness")
@requires("admin")
def show_fairness(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the outcomes of students, by each way to divide them."""
    window, made = _window(term_id, window_id), closeout.report(window_id)
    if made is None:
        return _none_yet(term_id, window)
    return render_template(
        "admin/fairness.html",
        term=catalog_of(term_id).term,
        window=window,
        whole=made.fairness["all"],
        tables=_fairness_tables(made),
        fewest=FEWEST,
        name=fairness.group_name,
        reason=label,
    )


@bp.get("/fairness.csv")
@requires("admin")
def download_fairness(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the same as a CSV file; small groups show no more than on the page."""
    head = (
        *(_("Grouping"), _("Group"), _("Tried to register"), _("Got their first choice")),
        *(_("With a seat"), _("Median time (s)"), _("90th percentile time (s)")),
        _("Students refused, by reason"),
    )
    rows = [
        (table.title, fairness.group_name(table.kind, row["name"]), *_outcome(table, row))
        for table in _fairness_tables(_made(term_id, window_id))
        for row in table.rows
    ]
    return download(f"fairness-{window_id}.csv", [head, *rows])


def _outcome(table: Table, row: Group) -> tuple[object, ...]:
    if row["name"] in table.hidden:
        return (_("hidden (small group)"),)
    often = sorted(row["reasons"].items(), key=lambda each: -each[1])
    parts = (f"{label(code)} {count}" for code, count in often if count >= FEWEST)
    waits = (None if row[name] is None else row[name] / 1000 for name in ("half", "most"))
    return row["asked"], row["got"], row["seated"], *waits, "; ".join(parts)


def _fairness_tables(made: WindowReport) -> list[Table]:
    found = made.fairness["tables"]
    tables = []
    for kind, title in fairness.KINDS.items():
        rows = sorted(found.get(kind, ()), key=lambda row: fairness.group_order(kind, row["name"]))
        tables.append(Table(kind, str(title), rows, hidden_groups(rows)))
    return tables


def _none_yet(term_id: int, window: WindowView) -> str:
    """Render the page in place of a report that does not exist yet."""
    now = phase([window], read_with_fallback.now())
    term = catalog_of(term_id).term
    return render_template("admin/report_none.html", term=term, window=window, phase=now)


def _window(term_id: int, window_id: int) -> WindowView:
    """Return the window of an address, or 404."""
    found = (each for each in read_with_fallback.windows(term_id) if each.id == window_id)
    return next(found, None) or abort(404)


def _made(term_id: int, window_id: int) -> WindowReport:
    """Return the report for a file, or 404."""
    _window(term_id, window_id)
    return closeout.report(window_id) or abort(404)
