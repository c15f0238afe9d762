"""Webhooks: which programs are told of which events, and how that goes."""

from flask import Blueprint

from portal.admin.webhooks import deeds, deliveries, pages

bp = Blueprint("webhooks", __name__, url_prefix="/webhooks")
for part in (pages, deeds, deliveries):
    bp.register_blueprint(part.bp)
