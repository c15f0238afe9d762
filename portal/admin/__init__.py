"""Pages for admins: terms and their windows, and the sections as they fill."""

from flask import Blueprint

from portal.admin import changes, sections, terms, windows

bp = Blueprint("admin", __name__, url_prefix="/admin")
for part in (terms, windows, changes, sections):
    bp.register_blueprint(part.bp)
