"""Days and hours as text, in the reader's language."""

from datetime import date, datetime, time

from babel.dates import format_interval, format_skeleton, get_day_names

from portal.catalog import formatting
from portal.core.i18n import current_locale


def weekday(number: int) -> str:
    """Return `Monday` for 0."""
    return str(get_day_names("wide", "stand-alone", current_locale())[number])


def hour(number: int) -> str:
    """Return a full hour for the side of a grid: `9 am`, `9:00`."""
    half_days = "a" in current_locale().time_formats["short"].pattern
    shown = format_skeleton("h" if half_days else "Hm", time(number), locale=current_locale())
    return shown.lower()


def day(when: date) -> str:
    """Return such as `Mon, Sep 7`."""
    return format_skeleton("MMMEd", when, locale=current_locale())


def days(first: date, last: date) -> str:
    """Return such as `Mon, Sep 7`, or `Wed, Nov 25 – Fri, Nov 27`."""
    return day(first) if first == last else f"{day(first)} – {day(last)}"


def dates(first: date, last: date) -> str:
    """Return such as `Aug 24 – Dec 11, 2026`."""
    return format_interval(first, last, "yMMMd", locale=current_locale())


def moment(when: datetime) -> str:
    """Return such as `Oct 5, 2026, 9:00 am`."""
    minute = when.replace(second=0, microsecond=0)
    return f"{formatting.day(minute, year=True)}, {formatting.clock(minute.time())}"
