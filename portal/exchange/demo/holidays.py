"""The demo's days without classes, where calendars of American universities have them."""

from collections.abc import Iterator
from datetime import date, timedelta

from portal.calendar.models import DayOff

MON, THU = 0, 3


def days_off(term: int, first: date, last: date) -> Iterator[DayOff]:
    """The days off of a term that begins on a Monday, in fall or in spring."""
    for name, start, length in _breaks(first):
        for number in range(length):
            day = start + timedelta(days=number)
            if first <= day <= last:
                yield DayOff(term_id=term, day=day, name=name)


def _breaks(first: date) -> Iterator[tuple[str, date, int]]:
    """Names, first days and numbers of days."""
    year, eighth_week = first.year, first + timedelta(weeks=7)
    if first.month >= 7:
        yield "Labor Day", _nth(MON, 1, year, 9), 1
        yield "Fall break", eighth_week, 2
        yield "Thanksgiving break", _nth(THU, 4, year, 11) - timedelta(days=1), 3
    else:
        yield "Martin Luther King Jr. Day", _nth(MON, 3, year, 1), 1
        yield "Presidents’ Day", _nth(MON, 3, year, 2), 1
        yield "Spring break", eighth_week, 5


def _nth(weekday: int, number: int, year: int, month: int) -> date:
    """Such as the fourth Thursday of a November."""
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))
