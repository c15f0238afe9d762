"""The languages of the pages, and whose page is in which."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache

from babel import Locale
from flask import Flask, Response, g, has_app_context, has_request_context, request, session
from flask_babel import Babel
from flask_login import current_user
from sqlalchemy.exc import SQLAlchemyError

from portal.core import i18n
from portal.core.i18n import ENGLISH, TEXTS, read_by, reader
from portal.core.settings import ROOT

NAMES = {"en": "English", "es": "Español"}  # each in its own words
# One of each, as what is drawn is kept by its reader's language: what is the same is found at once.
LOCALES = {name: ENGLISH if name == str(ENGLISH) else Locale(name) for name in NAMES}
KEPT_AS = "language"  # in the session: what was chosen in this browser

babel = Babel()


def start(app: Flask) -> None:
    """Choose a language for each request, and say with each page which it was."""
    app.config["BABEL_DEFAULT_LOCALE"] = str(ENGLISH)
    app.config["BABEL_TRANSLATION_DIRECTORIES"] = str(TEXTS)
    babel.init_app(app, locale_selector=_chosen)
    i18n.start(app)
    app.after_request(_tell)


@contextmanager
def speaking(language: str) -> Iterator[None]:
    """A block whose texts are in one language, in processes without pages too; "" is English."""
    locale = LOCALES.get(language, ENGLISH)
    with nullcontext() if has_app_context() else _speaker().app_context(), read_by(locale):
        yield


def new_session(own: str = "") -> None:
    """Empty the session, but for its language: an account's `own`, else this browser's."""
    language = own or session.get(KEPT_AS)
    session.clear()
    if language:
        session[KEPT_AS] = language


def _chosen() -> Locale:
    """What was chosen in this browser, else by the account, else what the browser asks for.

    A session knows of a choice at once, the account's may be told from two seconds ago.
    """
    if not has_request_context():
        return ENGLISH
    for own in (session.get(KEPT_AS), _of_account()):
        if own in LOCALES:
            return LOCALES[own]
    return _of_browser()


def _of_browser() -> Locale:
    """The first that the browser asks for and that is spoken here, in whatever country."""
    for tag, quality in request.accept_languages:
        language = tag.partition("-")[0].lower()
        if quality and language in LOCALES:
            return LOCALES[language]
    return ENGLISH


def _of_account() -> str:
    if g.get("nobody"):
        return ""
    try:
        return str(getattr(current_user, "language", ""))
    except SQLAlchemyError:
        return ""  # nobody can say now


def _tell(response: Response) -> Response:
    if response.mimetype == "text/html":
        response.headers["Content-Language"] = str(reader())
        response.vary.update(("Cookie", "Accept-Language"))
    return response


@cache
def _speaker() -> Flask:
    """What workers speak through."""
    app = Flask("portal", root_path=str(ROOT))
    start(app)
    return app
