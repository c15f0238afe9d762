"""The dates of the demo: the coming term, and its days off."""

from collections.abc import Iterator
from datetime import date, timedelta

MON, THU = 0, 3
WEEKS = 16
JULY = 7  # from here on students register for spring


def coming_term(today: date) -> tuple[str, date, date]:
    """Return the name, first and last day of the term for which students register today."""
    if today.month >= JULY:
        name, first = f"Spring {today.year + 1}", date(today.year + 1, 1, 11)
    else:
        name, first = f"Fall {today.year}", date(today.year, 8, 24)
    monday = first + timedelta(days=-first.weekday() % 7)
    return name, monday, monday + timedelta(days=7 * WEEKS - 3)


def days_off(first: date, last: date) -> Iterator[tuple[date, str]]:
    """Yield the days without classes in a term, as calendars of American universities have them."""
    for name, start, length in _breaks(first):
        for number in range(length):
            day = start + timedelta(days=number)
            if first <= day <= last:
                yield day, name


def _breaks(first: date) -> Iterator[tuple[str, date, int]]:
    """Yield names, first days and numbers of days."""
    year, eighth_week = first.year, first + timedelta(weeks=7)
    if first.month >= JULY:
        yield "Labor Day", _nth(MON, 1, year, 9), 1
        yield "Fall break", eighth_week, 2
        yield "Thanksgiving break", _nth(THU, 4, year, 11) - timedelta(days=1), 3
    else:
        yield "Martin Luther King Jr. Day", _nth(MON, 3, year, 1), 1
        yield "Presidents’ Day", _nth(MON, 3, year, 2), 1
        yield "Spring break", eighth_week, 5


def _nth(weekday: int, number: int, year: int, month: int) -> date:
    """Return a day such as the fourth Thursday of a November."""
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
