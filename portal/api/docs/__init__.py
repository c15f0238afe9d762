"""The OpenAPI document, and the page that shows it."""

import re

from flask import Blueprint, Flask, Response, current_app, json, render_template
from flask.typing import ResponseReturnValue
from markupsafe import Markup, escape

from portal.api.docs import health
from portal.api.docs.document import Document
from portal.api.docs.reference import reference
from portal.api.kinds import KINDS
from portal.web.http.access import public

bp = Blueprint("api_docs", __name__, url_prefix="/api")
KEPT = "openapi"
CODE = re.compile(r"`([^`]+)`")


def start(app: Flask, document: Document) -> None:
    """Keep the document of this app, and put its addresses in."""
    health.document(app, document)
    app.extensions[KEPT] = document.whole()
    app.register_blueprint(bp)


@bp.get("/docs")
@public
def page() -> ResponseReturnValue:
    """The document for people, made of the very one that programs read."""
    told = reference(current_app.extensions[KEPT], current_app.config["SETTINGS"].url)
    return render_template("api/docs.html", told=told, kinds=KINDS)


@bp.get("/v1/openapi.json")
@public
def openapi() -> ResponseReturnValue:
    """The document."""
    text = json.dumps(current_app.extensions[KEPT], sort_keys=False, ensure_ascii=False)
    return Response(text, mimetype="application/json")


@bp.app_template_filter("marked")
def marked(text: str) -> Markup:
    """A text whose `words` between ticks are code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped
