"""Texts in the reader's language: `_` and `_n` translate now, `_l` when shown, `_k` only marks.

Placeholders are named: `_("Place %(place)s of %(size)s", place=2, size=9)`. The web layer says how
to find a request's language (`find_locale_by`); elsewhere it is English or that of `in_language`.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from unicodedata import bidirectional

from babel import Locale
from babel.numbers import format_decimal, format_percent
from babel.support import LazyProxy, NullTranslations, Translations
from jinja2 import Environment, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

ENGLISH = Locale("en")
LANGUAGES = {"en": "English", "es": "Español"}  # each by its own name
# Exactly one Locale object per language: rendered parts are cached by it.
LOCALES = {code: ENGLISH if code == str(ENGLISH) else Locale(code) for code in LANGUAGES}
TEXTS = Path(__file__).resolve().parents[1] / "translations"

_forced: ContextVar[Locale | None] = ContextVar("locale", default=None)
_find_locale: Callable[[], Locale] = lambda: ENGLISH  # noqa: E731  replaced by the web layer


def _(text: str, /, **facts: object) -> str:
    """Return the text in the reader's language with its placeholders filled in."""
    found: str = _texts(current_locale().language).ugettext(text)
    return found % facts if facts else found


def _n(one: str, many: str, num: int, /, **facts: object) -> str:
    """Return the singular or plural text for `num`, which is also a placeholder."""
    found: str = _texts(current_locale().language).ungettext(one, many, num)
    return found % {"num": num, **facts}


def _l(text: str, /, **facts: object) -> Any:
    """Return a text that is translated each time it is shown, for module-level constants."""
    return LazyProxy(_, text, enable_cache=False, **facts)


def _k(text: str) -> str:
    """Mark a text for the translators and return it unchanged."""
    return text


def current_locale() -> Locale:
    """Return the language of the text's reader."""
    return _forced.get() or _find_locale()


def find_locale_by(find: Callable[[], Locale]) -> None:
    """Set the function that finds the language outside of `in_locale` blocks."""
    global _find_locale  # noqa: PLW0603  one per process
    _find_locale = find


@contextmanager
def in_locale(locale: Locale) -> Iterator[None]:
    """Translate everything in this block into one language."""
    before = _forced.set(locale)
    try:
        yield
    finally:
        _forced.reset(before)


@contextmanager
def in_language(code: str) -> Iterator[None]:
    """Translate everything in this block; an unknown code or "" means English."""
    with in_locale(LOCALES.get(code, ENGLISH)):
        yield


def isolated(name: str) -> str:
    """Return a name to put into a sentence: one written right to left keeps its own direction.

    Templates can use `<bdi>` for this instead.
    """
    foreign = any(bidirectional(sign) in {"R", "AL"} for sign in name)
    return f"\u2068{name}\u2069" if foreign else name


def translate_templates(env: Environment) -> None:
    """Give templates `_`, `gettext`, `ngettext`, the trans tag, and number filters."""
    env.add_extension("jinja2.ext.i18n")
    env.newstyle_gettext = True  # type: ignore[attr-defined]
    env.globals.update(_=_shown, gettext=_shown, ngettext=_shown_plural)
    env.filters["isolated"] = isolated
    env.filters["numberformat"] = lambda number: _number(number, current_locale())
    env.filters["translated"] = translated
    env.filters["percentformat"] = lambda number: format_percent(number, locale=current_locale())


@pass_eval_context
def _shown(page: EvalContext, text: str, /, **facts: object) -> str:
    return _filled(page, _texts(current_locale().language).ugettext(text), facts)


@pass_eval_context
def _shown_plural(page: EvalContext, one: str, many: str, num: int, /, **facts: object) -> str:
    found = _texts(current_locale().language).ungettext(one, many, num)
    return _filled(page, found, {"num": num, **facts})


def _filled(page: EvalContext, text: str, facts: dict[str, Any]) -> str:
    # As in Jinja: "%" is doubled in every text, with or without placeholders.
    shown = Markup(text) if page.autoescape else text  # noqa: S704 - translators are trusted
    return shown % facts if "%" in text else shown


@lru_cache(maxsize=10_000)
def _number(number: float, locale: Locale) -> str:
    return format_decimal(number, locale=locale)


@cache
def _texts(language: str) -> NullTranslations:
    return Translations.load(TEXTS, [language])


# Messages that are stored in English and translated for each reader.


class StoredMessageError(Exception):
    """An error whose message is stored and later shown in the reader's language."""

    def __init__(self, text: str, /, **facts: object) -> None:
        super().__init__(text % facts if facts else text)
        self.text = text
        self.facts = facts

    @property
    def stored(self) -> str:
        """Return the message and its placeholders, for `translated`."""
        return stored_message(self.text, **self.facts)


def stored_message(text: str, /, **facts: object) -> str:
    """Return a message and its placeholders as JSON, to be shown by `translated`."""
    return json.dumps([text, facts], default=str, ensure_ascii=False)


def text_of(message: str) -> str:
    """Return the text of a stored message, in English and with its placeholders."""
    try:
        return str(json.loads(message)[0])
    except (ValueError, TypeError, LookupError):  # plain text
        return message


def translated(message: str) -> str:
    """Return a stored message in the reader's language, its placeholder `what` too."""
    try:
        text, facts = json.loads(message)
        if what := facts.get("what"):
            facts |= {"what": translated(what)}
        return _(text, **facts)
    except (ValueError, TypeError, AttributeError, KeyError):  # plain text
        return message and _(message)
