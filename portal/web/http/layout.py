"""Content that every page needs around its own."""

import re
from functools import partial
from typing import Any

from flask import Flask, current_app, g, redirect, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user
from jinja2.runtime import Macro
from markupsafe import Markup, escape
from sqlalchemy.exc import SQLAlchemyError

from portal.catalog import requisites
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import term_label
from portal.core.i18n import LANGUAGES, current_locale
from portal.notifications import inbox
from portal.people.roles import Right
from portal.people.visitors import Visitor
from portal.recorder import read_with_fallback
from portal.web.http import flash_messages
from portal.web.http.access import rule_of, visitor
from portal.web.http.device_zone import clock_note, device_zone, term_note

HTMX = {
    "allowEval": False,
    # New content is active at once: a form submitted before that would be sent without scripts.
    "defaultSettleDelay": 0,
    # Each element states its own target and swap, so new content inherits nothing from its parent.
    "disableInheritance": True,
    "historyCacheSize": 0,  # pages are personal and must stay out of local storage
    "includeIndicatorStyles": False,
    "refreshOnHistoryMiss": True,
    "selfRequestsOnly": True,
    # Ms: longer than any response takes, so that users learn of a lost connection.
    "timeout": 30_000,
    "responseHandling": [
        {"code": "204", "swap": False},
        {"code": "[23]..", "swap": True},
        {"code": "422", "swap": True},
        {"code": "[45]..", "swap": True, "error": True},
    ],
}

# A page about a term belongs to the tab Sections if its view demands one of these, else to Windows.
SECTION_RIGHTS = frozenset(
    {Right.SEE_SECTIONS, Right.CHANGE_SECTIONS, Right.SCHEDULE, Right.ADJUST}
)

CODE = re.compile(r"\b(?:[A-Z]+ )?\w+-\w+\b")
MACROS = ("ui", "forms", "lists")  # of templates/macros; each may use those before it


def start(app: Flask) -> None:
    """Provide the visitor, the institution and its time to every template.

    Pages may show recorded data while the ledger is unavailable.
    """
    app.before_request(read_with_fallback.begin_request)
    app.teardown_request(lambda _error: read_with_fallback.end_request())
    app.context_processor(_around)
    app.jinja_env.globals["unread_count"] = unread_count
    app.jinja_env.filters["unbroken"] = unbroken
    app.jinja_env.filters["shown"] = requisites.shown
    app.jinja_env.filters["term_label"] = term_label


def share_macros(app: Flask) -> None:
    """Let every template use the macros of MACROS without an import.

    Call this last: macros see only what templates know by then.
    """
    for file in MACROS:
        module = app.jinja_env.get_template(f"macros/{file}.html").module
        found = {name: each for name, each in vars(module).items() if isinstance(each, Macro)}
        app.jinja_env.globals.update(found)


def unbroken(text: str) -> Markup:
    """Return the text with its codes, such as CSC 1100-01, kept on one line."""
    return Markup(CODE.sub(r'<span class="nowrap">\g<0></span>', str(escape(text))))  # noqa: S704 - it is escaped


def unread_count(account: int) -> Markup:
    """Render the number of the account's unread notifications, id inbox-count."""
    template = current_app.jinja_env.get_template("notifications/count.html")
    return Markup(template.render(box=inbox.unread(account)))  # noqa: S704 - the template escapes


def _around() -> dict[str, Any]:
    settings = current_app.config["SETTINGS"]
    clock = LocalClock(settings.zone)
    return {
        "visitor": _visitor(),
        # Someone is logged in, but a store is unavailable, so their name is unknown.
        "nameless": "_user_id" in session and request.blueprint == "student",
        "demands_section_right": bool(_demanded() & SECTION_RIGHTS),
        "institution": settings.institution,
        "htmx_config": HTMX,
        "times": clock,
        "device_zone": device_zone,
        "clock_note": partial(clock_note, clock),
        "term_note": partial(term_note, clock),
        "languages": LANGUAGES,
        "messages": flash_messages.take,
        "language": str(current_locale()),
        "recorded": read_with_fallback.recorded(),
        # The same content as its own page, or inside the dialog of the page that requested it.
        "layout": "dialog.html" if request.headers.get("HX-Target") == "dialog" else "base.html",
    }


def _demanded() -> frozenset[str]:
    """Return the rights that the view of this request demands; empty if no view answers it."""
    view = current_app.view_functions.get(request.endpoint or "")
    return rule_of(view) if view else frozenset()


def _visitor() -> Visitor | None:
    if g.get("skips_account"):  # this response must not look up the account
        return None
    try:
        return visitor() if current_user.is_authenticated else None
    except SQLAlchemyError:
        return None  # the error page renders without a name


def go(address: str) -> ResponseReturnValue:
    """Go to another page, after a form sent by htmx or by the browser."""
    if request.headers.get("HX-Request"):
        return "", 204, {"HX-Redirect": address}
    return redirect(address, 303)
