"""My account: who I am here, my password, my sessions, my access tokens."""

from flask import Blueprint

from portal.account import overview, password, tokens

bp = Blueprint("account", __name__, url_prefix="/account")
for part in (overview, password, tokens):
    bp.register_blueprint(part.bp)
