"""What became of a window once it has ended: its result, as a page and as a table."""

from collections.abc import Iterator
from typing import Any

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _
from portal.ledger.types import WindowView
from portal.recorder import read_with_fallback
from portal.registration.reasons import label
from portal.reports import closeout, results
from portal.reports.fairness import FEWEST, hidden_cohorts
from portal.reports.models import WindowReport
from portal.spreadsheets import Row, download
from portal.web.http.access import requires
from portal.windows.phases import phase

bp = Blueprint("reports", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>")

UNDER = 50  # percent of the seats: a section that is less full stands out
COUNTED = ("students", "asked", "seated", "seats", "waiting")  # of a cohort
MOST_SHOWN = 100  # rows of a table; the file has them all


@bp.get("/report")
@requires("admin")
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """The result; until it is made, when that will be."""
    window, made = window_of(term_id, window_id), closeout.report(window_id)
    if made is None:
        return none_yet(term_id, window)
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
        veiled=hidden_cohorts(made.result["cohorts"]),
    )


@bp.get("/report.csv")
@requires("admin")
def show_csv(term_id: int, window_id: int) -> ResponseReturnValue:
    """The result as a table: sections, cohorts, refusals, and who still waits."""
    made, offered = made_of(term_id, window_id), catalog_of(term_id)
    counts = ("code", "crn", "capacity", "taken", "waiting", "given", "refused")
    placed = ("code", "crn", "number", "name", "position", "why")
    rows: list[Row] = [
        (_("Section"), "CRN", *(_("Capacity"), _("Taken"), _("Waiting"), _("Given"), _("Refused"))),
        *([row[part] for part in counts] for row in results.sections(offered, made)),
        (),
        (
            _("Year"),
            _("Level"),
            _("Students"),
            _("Asked"),
            _("With a seat"),
            _("Seats"),
            _("Waiting"),
        ),
        *_cohorts(made.result["cohorts"]),
        (),
        (_("Reason"), _("Refusals"), _("Students")),
        *((label(row["code"]), row["refusals"], row["students"]) for row in made.result["reasons"]),
        (),
        (_("Section"), "CRN", _("Student"), _("Name"), _("Place"), _("Passed over")),
        *([row[part] for part in placed] for row in results.waiters(offered, made)),
    ]
    return download(f"result-{window_id}.csv", rows)


def _cohorts(rows: list[dict[str, Any]]) -> Iterator[Row]:
    """A row for each; of small ones no more than the page has."""
    hidden = hidden_cohorts(rows)
    for row in rows:
        named = (row["year"], row["level"])
        if named in hidden:
            yield *named, row["students"], _("too few to show") if row["asked"] else 0
        else:
            yield *named, *(row[part] for part in COUNTED)


def none_yet(term_id: int, window: WindowView) -> str:
    """The page in place of a report that is not made."""
    now = phase([window], read_with_fallback.now())
    term = catalog_of(term_id).term
    return render_template("admin/report_none.html", term=term, window=window, phase=now)


def window_of(term_id: int, window_id: int) -> WindowView:
    """The window of an address; 404 where there is none."""
    found = (each for each in read_with_fallback.windows(term_id) if each.id == window_id)
    return next(found, None) or abort(404)


def made_of(term_id: int, window_id: int) -> WindowReport:
    """The report that a file is made of; 404 where there is none."""
    window_of(term_id, window_id)
    return closeout.report(window_id) or abort(404)
