"""Pages to export files: rosters, a semester to edit, and everything as OneRoster files."""

from contextlib import suppress
from io import BytesIO

from flask import Blueprint, abort, render_template, url_for
from flask.typing import ResponseReturnValue
from redis.exceptions import RedisError

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core import bulkheads
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.exchange.exporting import export_jobs
from portal.exchange.exporting.models import Export
from portal.exchange.exporting.rosters import rosters
from portal.exchange.exporting.semester import write_semester, write_workbook
from portal.people.roles import Right
from portal.web.http.access import requires, visitor
from portal.web.http.downloads import attachment, download
from portal.web.http.layout import go

bp = Blueprint("exports", __name__)

SEMESTER_FORMATS = {
    "zip": (write_semester, "application/zip"),
    "xlsx": (write_workbook, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
}


@bp.post("/exports")
@requires(Right.EXCHANGE_DATA)
def ask() -> ResponseReturnValue:
    """Request a full export and go to its page."""
    with suppress(RedisError):
        bulkheads.check_background_queue(backend().redis)
    with transaction() as session:
        found = export_jobs.request_export(session, visitor().id)
        add_audit_entry(session, "export.make", f"export:{found.id}", by=visitor().id)
    with suppress(RedisError):  # the page shows that nothing arrives, and offers another try
        export_jobs.enqueue(found.id)
    return go(url_for("admin.exports.show", export_id=found.id))


@bp.get("/exports/<int:export_id>")
@requires(Right.EXCHANGE_DATA)
def show(export_id: int) -> ResponseReturnValue:
    """Render an export to the admin who requested it."""
    return render_template("admin/export.html", found=_mine(export_id))


@bp.get("/exports/<int:export_id>/oneroster.zip")
@requires(Right.EXCHANGE_DATA)
def fetch(export_id: int) -> ResponseReturnValue:
    found = _mine(export_id)
    if found.size is None:
        abort(404)
    answer = attachment("oneroster.zip", export_jobs.content(export_id), "application/zip")
    answer.content_length = found.size
    return answer


@bp.get("/terms/<int:term_id>/rosters.csv")
@requires(Right.SEE_EXPORTS)
def of_term(term_id: int) -> ResponseReturnValue:
    """Return everyone in every section of a term."""
    term = catalog_of(term_id).term
    with transaction() as session:
        add_audit_entry(session, "export.rosters", f"term:{term.id}", by=visitor().id)
    return download(f"rosters-{term_id}.csv", rosters(term.id))


@bp.get(f"/terms/<int:term_id>/semester.<any({','.join(SEMESTER_FORMATS)}):suffix>")
@requires(Right.SEE_EXPORTS)
def semester(term_id: int, suffix: str) -> ResponseReturnValue:
    """Return a term in the layout that imports of a semester read: a zip, or a workbook."""
    term = catalog_of(term_id).term
    out = BytesIO()
    write, mimetype = SEMESTER_FORMATS[suffix]
    write(term.name, out)
    with transaction() as session:
        add_audit_entry(session, "export.semester", f"term:{term.id}", by=visitor().id)
    return attachment(f"semester-{term_id}.{suffix}", out.getvalue(), mimetype)


@bp.get("/terms/<int:term_id>/sections/<int:section_id>/roster.csv")
@requires(Right.SEE_STUDENTS)
def of_section(term_id: int, section_id: int) -> ResponseReturnValue:
    """Return everyone in one section, with what private students withhold from instructors."""
    section = catalog_of(term_id).section(section_id) or abort(404)
    with transaction() as session:
        add_audit_entry(session, "export.rosters", f"section:{section_id}", by=visitor().id)
    return download(f"roster-{section.crn}.csv", rosters(term_id, section_id))


def _mine(export_id: int) -> Export:
    with transaction() as session:
        found = session.get(Export, export_id) or abort(404)
    if found.account_id != visitor().id:
        abort(403)
    return found
