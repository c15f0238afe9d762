"""Pages for admins."""

from flask import Blueprint

from portal.admin import (
    results,
    terms,
)
from portal.admin import windows as window_reports
from portal.web.admin import (
    audit_trail,
    exports,
    imports,
    instructors,
    operations,
    receipts,
    requests,
    section_editing,
    sections,
    students,
    term_rules,
    waiting_room,
    webhooks,
    windows,
)

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, term_rules, *window_reports.PARTS, windows, waiting_room, sections, section_editing),
    *(*results.PARTS, students, instructors, requests, receipts, audit_trail, imports, exports),
    *(operations, webhooks),
):
    bp.register_blueprint(part.bp)
