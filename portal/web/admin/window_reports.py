"""Reports on a window that has ended: its result and its fairness, as pages and files."""

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of
from portal.ledger.types import WindowView
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.reasons import label
from portal.reports import closeout, fairness, results, window_files
from portal.reports.fairness import FEWEST, hidden_cohorts
from portal.reports.models import WindowReport
from portal.web.http.access import requires
from portal.web.http.downloads import download
from portal.windows.phases import phase

bp = Blueprint(
    "window_reports", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>"
)

UNDER = 50  # percent of the seats: sections below it stand out
MOST_SHOWN = 100  # rows of a table; the file has all


@bp.get("/report")
@requires(Right.SEE_REPORTS)
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
@requires(Right.SEE_REPORTS)
def download_report(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the result as a CSV file: sections, cohorts, refusals, and waitlists."""
    made = _made(term_id, window_id)
    rows = window_files.result_rows(catalog_of(term_id), made)
    return download(f"result-{window_id}.csv", list(rows))


@bp.get("/fairness")
@requires(Right.SEE_REPORTS)
def show_fairness(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the outcomes of students, by each way to divide them."""
    window, made = _window(term_id, window_id), closeout.report(window_id)
    if made is None:
        return _none_yet(term_id, window)
    by_band = fairness.promotions_by_band(made.fairness)
    return render_template(
        "admin/fairness.html",
        term=catalog_of(term_id).term,
        window=window,
        whole=made.fairness["all"],
        tables=window_files.fairness_tables(made),
        bands=by_band,
        hidden_bands=fairness.hidden_bands(by_band),
        fewest=FEWEST,
        name=fairness.group_name,
        reason=label,
    )


@bp.get("/fairness.csv")
@requires(Right.SEE_REPORTS)
def download_fairness(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the same as a CSV file; small groups show no more than on the page."""
    rows = window_files.fairness_rows(_made(term_id, window_id))
    return download(f"fairness-{window_id}.csv", list(rows))


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
