"""Texts that people read, in the language of whoever reads them: `_`, `_n`; unread yet, `_l`, `_k`.

Placeholders are named, as in `_("Place %(place)s of %(size)s", place=2, size=9)`.

Flask-Babel knows whose language is which. It would be asked for it, and for where its texts are,
at each of the dozens of texts of a page: here once for a request.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from typing import Any

import flask_babel
from babel import Locale
from babel.numbers import format_decimal
from babel.support import NullTranslations, Translations
from flask import Flask, g
from flask_babel import force_locale, get_locale
from jinja2 import pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from portal.core.settings import ROOT

__all__ = ["ENGLISH", "TEXTS", "_", "_k", "_l", "_n", "read_by", "reader", "start"]

ENGLISH = Locale("en")
TEXTS = ROOT / "portal" / "translations"


def _(text: str, /, **facts: object) -> str:
    """The text with the facts in their places."""
    found: str = _texts(reader().language).ugettext(text)
    return found % facts if facts else found


def _n(one: str, many: str, num: int, /, **facts: object) -> str:
    """The text for so many, which `num` tells."""
    found: str = _texts(reader().language).ungettext(one, many, num)
    return found % {"num": num, **facts}


_l: Callable[..., str] = flask_babel.lazy_gettext  # a text that is looked up when it is shown
_k: Callable[[str], str] = str  # one that is kept as it stands, for `_` to look up by then


def reader() -> Locale:
    """The language of whoever reads what is being made; English where nobody is known to."""
    try:
        found: Locale = g.reader
    except AttributeError:
        found = g.reader = get_locale() or ENGLISH
    except RuntimeError:  # outside of any app
        return ENGLISH
    return found


@contextmanager
def read_by(locale: Locale) -> Iterator[None]:
    """A block of an app's context whose reader has that language."""
    before, g.reader = reader(), locale
    try:
        with force_locale(locale):
            yield
    finally:
        g.reader = before


def start(app: Flask) -> None:
    """Give templates `_`, `ngettext` and `numberformat`; after Flask-Babel, whose they replace."""
    app.jinja_env.globals.update(_=_shown, gettext=_shown, ngettext=_shown_of)
    app.jinja_env.filters["numberformat"] = lambda number: _number(number, reader())


@pass_eval_context
def _shown(page: EvalContext, text: str, /, **facts: object) -> str:
    return _filled(page, _texts(reader().language).ugettext(text), facts)


@pass_eval_context
def _shown_of(page: EvalContext, one: str, many: str, num: int, /, **facts: object) -> str:
    found = _texts(reader().language).ungettext(one, many, num)
    return _filled(page, found, {"num": num, **facts})


def _filled(page: EvalContext, text: str, facts: dict[str, Any]) -> str:
    # As Jinja's own: a "%" is written twice, whether there are facts or not.
    shown = Markup(text) if page.autoescape else text  # noqa: S704 - translators are trusted
    return shown % facts if "%" in text else shown


@lru_cache(maxsize=10_000)
def _number(number: float, locale: Locale) -> str:
    return format_decimal(number, locale=locale)


@cache
def _texts(language: str) -> NullTranslations:
    return Translations.load(TEXTS, [language])


# Messages that are kept in English and told in the language of whoever reads them.


class Told(Exception):  # noqa: N818  for errors that say by their own name what they are
    """An error with such a message."""

    def __init__(self, text: str, /, **facts: object) -> None:
        super().__init__(text % facts if facts else text)
        self.text = text
        self.facts = facts

    @property
    def kept(self) -> str:
        """The message and its facts, for `told`."""
        return kept(self.text, **self.facts)


def kept(text: str, /, **facts: object) -> str:
    """A message and what is filled in, for `told`."""
    return json.dumps([text, facts], default=str, ensure_ascii=False)


def told(message: str) -> str:
    """A message that was kept, as its reader understands it; so is the fact `what`, a text too."""
    try:
        text, facts = json.loads(message)
        if what := facts.get("what"):
            facts |= {"what": _(what)}
        return _(text, **facts)
    except (ValueError, TypeError, AttributeError):  # of a portal that kept it as it was told
        return message
