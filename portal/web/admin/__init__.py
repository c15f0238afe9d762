"""Pages for admins."""

from flask import Blueprint

from portal.web.admin import (
    adjustments,
    applications,
    audit_trail,
    exports,
    imports,
    instructors,
    operations,
    receipts,
    requests,
    results,
    section_editing,
    sections,
    student_record,
    students,
    term_rules,
    terms,
    underfilled,
    waiting_room,
    webhooks,
    window_reports,
    windows,
)

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, term_rules, windows, waiting_room, window_reports, sections, section_editing),
    *(
        results,
        adjustments,
        underfilled,
        students,
        student_record,
        instructors,
        requests,
        applications,
        receipts,
        audit_trail,
    ),
    *(imports, exports, operations, webhooks),
):
    bp.register_blueprint(part.bp)
