"""Pages for admins."""

from flask import Blueprint

from portal.admin import (
    audit,
    imports,
    receipts,
    requests,
    results,
    rules,
    sections,
    teachers,
    terms,
    windows,
)
from portal.web.admin import operations, students, waiting_room, webhooks

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, rules, *windows.PARTS, waiting_room, *sections.PARTS, *results.PARTS, students),
    *(teachers, requests, receipts, audit, *imports.PARTS, operations, webhooks),
):
    bp.register_blueprint(part.bp)
