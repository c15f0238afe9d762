"""Days off: days of a term on which no class meets, as breaks for pages and calendars."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, timedelta

from sqlalchemy import select

from portal.calendar.models import DayOff
from portal.core.cache import Cache
from portal.core.db import transaction

FRESH_SECONDS = 10


@dataclass(frozen=True)
class Break:
    """Consecutive days off with one name."""

    name: str
    first: date
    last: date


def breaks(term_id: int) -> tuple[Break, ...]:
    """Return the breaks of a term in order, at most 10 seconds old."""
    return _breaks.get(term_id)


def join_days(days: Iterable[tuple[date, str]]) -> tuple[Break, ...]:
    """Return days as breaks: consecutive days with one name make one break."""
    found: list[Break] = []
    for day, name in sorted(days):
        before = found[-1] if found else None
        if before and before.name == name and day - before.last == timedelta(days=1):
            found[-1] = replace(before, last=day)
        else:
            found.append(Break(name, day, day))
    return tuple(found)


def _read(term_id: int) -> tuple[Break, ...]:
    with transaction() as session:
        found = session.execute(select(DayOff.day, DayOff.name).where(DayOff.term_id == term_id))
        return join_days((row.day, row.name) for row in found)


_breaks = Cache(_read, FRESH_SECONDS)
