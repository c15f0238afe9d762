"""Pages for admins."""

from flask import Blueprint

from portal.admin import (
    results,
    terms,
    windows,
)
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
)

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, term_rules, *windows.PARTS, waiting_room, sections, section_editing),
    *(*results.PARTS, students, instructors, requests, receipts, audit_trail, imports, exports),
    *(operations, webhooks),
):
    bp.register_blueprint(part.bp)
