"""Pages for admins: terms and their windows, and the sections as they fill."""

from flask import Blueprint

from portal.admin import changes, receipts, rooms, sections, terms, windows

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (terms, windows, rooms, changes, sections, receipts):
    bp.register_blueprint(part.bp)
