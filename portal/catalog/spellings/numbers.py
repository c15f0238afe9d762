"""Counts of people and seats: `30`, `1,200`, `30.0`, `-7`."""

import re

from portal.catalog.spellings.text import Unreadable, says_nothing, tidy
from portal.core.i18n import _k

COUNT = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.0+)?", re.ASCII)
MOST = 1_000_000


def count_of(text: str) -> int | None:
    """The whole number that `text` gives, None where it gives none."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    if not COUNT.fullmatch(tidied):
        raise Unreadable(_k("'%(text)s' is no whole number."), text=tidied)
    number = int(tidied.replace(",", "").partition(".")[0])
    if abs(number) > MOST:
        raise Unreadable(_k("'%(text)s' is more than any section could have."), text=tidied)
    return number
