"""What every page needs around its own content."""

import re
from typing import Any

from flask import Flask, current_app, g, redirect, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user
from markupsafe import Markup, escape
from sqlalchemy.exc import SQLAlchemyError

from portal.catalog import requisites
from portal.catalog.local_time import LocalClock
from portal.core.i18n import LANGUAGES, current_locale
from portal.people.visitors import Visitor
from portal.recorder import read_with_fallback
from portal.web.http import flash_messages
from portal.web.http.access import visitor

HTMX = {
    "allowEval": False,
    # Whatever comes in works at once; a form pressed before it does would be sent without scripts.
    "defaultSettleDelay": 0,
    # Each element states its own target and swap: what is swapped in takes nothing from its place.
    "disableInheritance": True,
    "historyCacheSize": 0,  # pages are someone's own and stay out of local storage
    "includeIndicatorStyles": False,
    "refreshOnHistoryMiss": True,
    "selfRequestsOnly": True,
    "timeout": 30_000,  # ms: longer than any answer takes, so that a dead line is told of
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": True, "error": True},
    ],
}

CODE = re.compile(r"\b(?:[A-Z]+ )?\w+-\w+\b")


def start(app: Flask) -> None:
    """Give every template the visitor, the institution and its time."""
    app.context_processor(_around)
    app.jinja_env.filters["unbroken"] = unbroken
    app.jinja_env.filters["shown"] = requisites.shown


def unbroken(text: str) -> Markup:
    """A text whose codes, such as CSC 1100-01, stay on one line."""
    return Markup(CODE.sub(r'<span class="nowrap">\g<0></span>', str(escape(text))))  # noqa: S704 - it is escaped


def _around() -> dict[str, Any]:
    settings = current_app.config["SETTINGS"]
    return {
        "visitor": _visitor(),
        # Someone is logged in, though it is not known who while a store is away.
        "nameless": "_user_id" in session and request.blueprint == "student",
        "institution": settings.institution,
        "htmx_config": HTMX,
        "times": LocalClock(settings.zone),
        "languages": LANGUAGES,
        "messages": flash_messages.take,
        "language": str(current_locale()),
        "recorded": read_with_fallback.recorded(),
        # The same content as a page of its own, or inside the dialog of the page it was asked from.
        "layout": "dialog.html" if request.headers.get("HX-Target") == "dialog" else "base.html",
    }


def _visitor() -> Visitor | None:
    if g.get("nobody"):  # an answer that must ask nobody who that is
        return None
    try:
        return visitor() if current_user.is_authenticated else None
    except SQLAlchemyError:
        return None  # the page that says so is drawn without a name


def go(address: str) -> ResponseReturnValue:
    """On to another page, from a form that htmx sent as well as from one that the browser did."""
    if request.headers.get("HX-Request"):
        return "", 204, {"HX-Redirect": address}
    return redirect(address, 303)
