"""Texts that people read, in the language of whoever reads them: `_`, `_n` and, unread yet, `_l`.

Placeholders are named, as in `_("Place %(place)s of %(size)s", place=2, size=9)`.
"""

from flask_babel import gettext as _
from flask_babel import lazy_gettext as _l
from flask_babel import ngettext as _n

__all__ = ["_", "_l", "_n"]
