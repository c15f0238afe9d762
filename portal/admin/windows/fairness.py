"""How fair a window was: pictures with their numbers, and the same as a table."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, render_template
from flask.typing import ResponseReturnValue

from portal.admin.windows.reports import made_of, none_yet, window_of
from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _
from portal.registration.reasons import label
from portal.reports import closeout, fairness
from portal.reports.fairness import FEWEST
from portal.reports.fairness import hidden_groups as veiled
from portal.reports.models import WindowReport
from portal.spreadsheets import download
from portal.web.http.access import requires

bp = Blueprint("fairness", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>")

Row = dict[str, Any]


@dataclass(frozen=True)
class Table:
    """One way to divide the students: rows in order, and those whose outcomes are not shown."""

    kind: str
    title: str
    rows: list[Row]
    veiled: set[str]


@bp.get("/fairness")
@requires("admin")
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """What became of whom, by each way to divide them."""
    window, made = window_of(term_id, window_id), closeout.report(window_id)
    if made is None:
        return none_yet(term_id, window)
    return render_template(
        "admin/fairness.html",
        term=catalog_of(term_id).term,
        window=window,
        whole=made.fairness["all"],
        tables=_tables(made),
        fewest=FEWEST,
        name=fairness.group_name,
        reason=label,
    )


@bp.get("/fairness.csv")
@requires("admin")
def show_csv(term_id: int, window_id: int) -> ResponseReturnValue:
    """The same as a table; of small groups no more than the page has."""
    head = (
        *(_("Divided"), _("Group"), _("Asked"), _("Got what they asked for first")),
        *(_("With a seat"), _("Half had it within (s)"), _("Nine of ten had it within (s)")),
        _("Students refused, by reason"),
    )
    rows = [
        (table.title, fairness.group_name(table.kind, row["name"]), *_outcome(table, row))
        for table in _tables(made_of(term_id, window_id))
        for row in table.rows
    ]
    return download(f"fairness-{window_id}.csv", [head, *rows])


def _outcome(table: Table, row: Row) -> tuple[object, ...]:
    if row["name"] in table.veiled:
        return (_("too few to show"),)
    often = sorted(row["reasons"].items(), key=lambda each: -each[1])
    told = (f"{label(code)} {count}" for code, count in often if count >= FEWEST)
    waits = (None if row[name] is None else row[name] / 1000 for name in ("half", "most"))
    return row["asked"], row["got"], row["seated"], *waits, "; ".join(told)


def _tables(made: WindowReport) -> list[Table]:
    found = made.fairness["tables"]
    tables = []
    for kind, title in fairness.KINDS.items():
        rows = sorted(found.get(kind, ()), key=lambda row: fairness.group_order(kind, row["name"]))
        tables.append(Table(kind, str(title), rows, veiled(rows)))
    return tables
