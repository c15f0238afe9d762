"""Pages for admins."""

from flask import Blueprint

from portal.admin import (
    audit,
    imports,
    operations,
    receipts,
    requests,
    results,
    rules,
    sections,
    teachers,
    terms,
    webhooks,
    windows,
)
from portal.web.admin import students

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, rules, *windows.PARTS, *sections.PARTS, *results.PARTS, students),
    *(teachers, requests, receipts, audit, *imports.PARTS, operations, webhooks),
):
    bp.register_blueprint(part.bp)
