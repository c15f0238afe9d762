"""Pages for admins, each part in a module of its own."""

from flask import Blueprint

from portal.admin import (
    audit,
    changes,
    exports,
    fairness,
    holds,
    holds_permits,
    imports,
    imports_end,
    operations,
    privacy,
    receipts,
    records,
    records_completed,
    reports,
    requests,
    results,
    results_adjust,
    results_few,
    rooms,
    rooms_turns,
    rules,
    sections,
    sections_deeds,
    sections_edit,
    sections_new,
    sections_share,
    teachers,
    terms,
    windows,
)

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (
    *(terms, windows, rooms, rooms_turns, changes, rules, reports, fairness),
    *(sections, sections_new, sections_edit, sections_share, sections_deeds),
    *(records, records_completed, results, results_adjust, results_few, holds, holds_permits),
    *(teachers, requests, privacy, receipts, audit),
    *(imports, imports_end, exports, operations),
):
    bp.register_blueprint(part.bp)
