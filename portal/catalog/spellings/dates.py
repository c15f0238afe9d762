"""Dates: `2021-01-06`, `Jan 06, 2021`, `6 January 2021`, `01/06/2021` (month first)."""

import re
from datetime import date

from portal.catalog.spellings.text import Unreadable, says_nothing, tidy
from portal.core.i18n import _k

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*[.,]?\s+", re.IGNORECASE)
FORMS = (
    re.compile(r"(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})", re.ASCII),
    re.compile(r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})", re.ASCII),
    # Month first, as American systems write it; 13/01/2021 is refused, never guessed.
    re.compile(r"(?P<month>\d{1,2})[-/](?P<day>\d{1,2})[-/](?P<year>\d{4}|\d{2})", re.ASCII),
    re.compile(r"(?P<word>[a-z]{3,9})[. -]+(?P<day>\d{1,2})(?:st|nd|rd|th)?[, -]+(?P<year>\d{4})"),
    re.compile(
        r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?[ -]*(?P<word>[a-z]{3,9})[.,]?[ -]*(?P<year>\d{4})"
    ),
)
MIDNIGHT = re.compile(r"[T ]00:00(?::00(?:\.0+)?)?Z?$")


def date_of(text: str) -> date | None:
    """The date that `text` gives, None where it's to be announced."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    bare = WEEKDAY.sub("", MIDNIGHT.sub("", tidied), count=1).lower()
    for form in FORMS:
        if found := form.fullmatch(bare):
            return made(found.groupdict(), tidied)
    raise Unreadable(_k("'%(text)s' is no date."), text=tidied)


def made(parts: dict[str, str], tidied: str) -> date:
    """The date of a form's parts, if the calendar has it and a term could."""
    try:
        month = month_of(parts["word"]) if "word" in parts else int(parts["month"])
        year = int(parts["year"]) + (2000 if len(parts["year"]) == 2 else 0)
        found = date(year, month, int(parts["day"]))
    except ValueError:
        raise Unreadable(
            _k("'%(text)s' is no date (month first: 12/31/2021)."), text=tidied
        ) from None
    if not 1900 <= found.year <= 2200:
        raise Unreadable(_k("'%(text)s' is no year of a term."), text=tidied)
    return found


def month_of(word: str) -> int:
    """1 … 12 of `sept`, `September`; raises ValueError for other words."""
    month = MONTHS.index(word[:3]) + 1
    if not f"{date(2000, month, 1):%B}".lower().startswith(word) and word != "sept":
        raise ValueError(word)
    return month
