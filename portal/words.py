"""Texts that people read, in the language of whoever reads them: `_`, `_n`; unread yet, `_l`, `_k`.

Placeholders are named, as in `_("Place %(place)s of %(size)s", place=2, size=9)`.
"""

from collections.abc import Callable

import flask_babel
from babel import Locale
from flask_babel import get_locale

__all__ = ["ENGLISH", "_", "_k", "_l", "_n", "reader"]

ENGLISH = Locale("en")

_: Callable[..., str] = flask_babel.gettext
_n: Callable[..., str] = flask_babel.ngettext
_l: Callable[..., str] = flask_babel.lazy_gettext  # a text that is looked up when it is shown
_k: Callable[[str], str] = str  # one that is kept as it stands, for `_` to look up by then


def reader() -> Locale:
    """The language of whoever reads what is being made; English where nobody is known to."""
    return get_locale() or ENGLISH
