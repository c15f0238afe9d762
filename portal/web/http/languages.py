"""Choose the language of each request's texts."""

from babel import Locale
from flask import Flask, Response, g, has_request_context, request, session
from flask_login import current_user
from sqlalchemy.exc import SQLAlchemyError

from portal.core.i18n import (
    ENGLISH,
    LOCALES,
    current_locale,
    find_locale_by,
    translate_templates,
)

SESSION_KEY = "language"  # the language chosen in this browser


def start(app: Flask) -> None:
    """Translate each request's texts, and name the language in each page's headers."""
    translate_templates(app.jinja_env)
    find_locale_by(_of_request)
    app.after_request(_name_language)


def new_session(own: str = "") -> None:
    """Empty the session, but keep the language: the account's `own`, else this browser's."""
    language = own or session.get(SESSION_KEY)
    session.clear()
    if language:
        session[SESSION_KEY] = language


def _of_request() -> Locale:
    try:
        found: Locale = g.locale  # a page asks hundreds of times: no check before
    except (AttributeError, RuntimeError):
        if not has_request_context():
            return ENGLISH
        g.locale = ENGLISH  # for a text needed while the language is looked up
        found = g.locale = _chosen()
    return found


def _chosen() -> Locale:
    """Return the language chosen in this browser, else the account's, else the browser's own.

    A choice in the session applies at once; the account's may come from a cache of two seconds.
    """
    for own in (session.get(SESSION_KEY), _of_account()):
        if own in LOCALES:
            return LOCALES[own]
    return _of_browser()


def _of_browser() -> Locale:
    """Return the first language that the browser asks for and the portal has, of any country."""
    for tag, quality in request.accept_languages:
        language = tag.partition("-")[0].lower()
        if quality and language in LOCALES:
            return LOCALES[language]
    return ENGLISH


def _of_account() -> str:
    if g.get("skips_account"):
        return ""
    try:
        return str(getattr(current_user, "language", ""))
    except SQLAlchemyError:
        return ""  # PostgreSQL is unavailable


def _name_language(response: Response) -> Response:
    if response.mimetype == "text/html":
        response.headers["Content-Language"] = str(current_locale())
        response.vary.update(("Cookie", "Accept-Language"))
    return response
