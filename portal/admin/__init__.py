"""Pages for admins, each part in a room or a module of its own."""

from flask import Blueprint

from portal.admin import (
    audit,
    imports,
    operations,
    receipts,
    rehearsals,
    requests,
    results,
    rules,
    sections,
    students,
    teachers,
    terms,
    webhooks,
    windows,
)

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, rules, *windows.PARTS, *sections.PARTS, *results.PARTS, *students.PARTS),
    *(teachers, requests, receipts, audit, *imports.PARTS, operations, rehearsals, webhooks),
):
    bp.register_blueprint(part.bp)
