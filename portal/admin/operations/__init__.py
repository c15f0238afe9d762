"""How the portal runs: figures that move, what can be switched, what can be tried again."""

from flask import Blueprint

from portal.admin.operations import audits, letters, mails, pages, switching

bp = Blueprint("operations", __name__, url_prefix="/operations")
for part in (pages, letters, mails, switching, audits):
    bp.register_blueprint(part.bp)
