"""Times of day: `4:00PM`, `2:30 p.m.`, `14:30`, `1430`, `9 am`, `noon`."""

import re
from datetime import time

from portal.catalog.spellings.text import Unreadable, says_nothing, tidy
from portal.core.i18n import _k

CLOCK = re.compile(
    r"(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})(?::\d{2})?)?\s*(?P<half>[ap])?\.?(?:(?<=[ap.])m\.?)?",
    re.ASCII,
)
BARE = re.compile(r"(?P<hour>\d{1,2})(?P<minute>\d{2})\s*(?:(?P<half>[ap])\.?(?:m\.?)?)?", re.ASCII)
NAMED = {"noon": time(12), "midday": time(12), "midnight": time(0)}


def time_of(text: str) -> time | None:
    """The time that `text` gives, None where it's to be announced; no am or pm: 24 hours."""
    tidied = tidy(text)
    if says_nothing(tidied):
        return None
    if named := NAMED.get(tidied.lower()):
        return named
    found = BARE.fullmatch(tidied.lower()) or CLOCK.fullmatch(tidied.lower())
    if not found or not (found["minute"] or found["half"]):
        raise Unreadable(_k("'%(text)s' is no time of day."), text=tidied)
    hour = hour_of(int(found["hour"]), found["half"])
    minute = int(found["minute"] or 0)
    if hour is None or minute > 59:
        raise Unreadable(_k("'%(text)s' is no time of day."), text=tidied)
    return time(hour, minute)


def hour_of(hour: int, half: str | None) -> int | None:
    """The hour of 24; None where the clock has no such hour (`13 am`)."""
    if half is None or (half == "p" and hour > 12):
        return hour if hour < 24 else None
    if not 1 <= hour <= 12:
        return None
    return hour % 12 + (12 if half == "p" else 0)
