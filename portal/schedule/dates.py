"""The days on which a meeting is held."""

from collections.abc import Iterator
from datetime import date, timedelta


def between(days: int, first: date, last: date) -> Iterator[date]:
    """The dates from `first` to `last` on the days of a mask (Monday 1 … Sunday 64)."""
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        if days >> day.weekday() & 1:
            yield day
