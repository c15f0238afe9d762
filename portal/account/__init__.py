"""My account: who I am here, my password, my sessions, my access tokens, my privacy."""

from flask import Blueprint

from portal.account import overview, password, privacy, tokens

bp = Blueprint("account", __name__, url_prefix="/account")
for part in (overview, password, privacy, tokens):
    bp.register_blueprint(part.bp)
