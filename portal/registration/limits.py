"""A student's limits in a term: windows, credits and drops a day."""

from collections.abc import Mapping
from datetime import datetime, time, timedelta
from decimal import Decimal
from threading import Lock
from zoneinfo import ZoneInfo

from cachetools import TTLCache, cached

from portal.backend import backend
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.ledger.types import WindowView
from portal.people.student_profile import StudentProfile
from portal.windows.cohorts import open_to

WINDOWS_FRESH_SECONDS = 1
HALF_A_DAY = timedelta(hours=12)


def windows_of(student: StudentProfile, term: int) -> list[WindowView]:
    """Return the windows of a term for the student's cohorts, at most a second old."""
    return open_to(student, windows(term))


@cached(TTLCache(maxsize=64, ttl=WINDOWS_FRESH_SECONDS), lock=Lock())
def windows(term: int) -> list[WindowView]:
    """Return all windows of a term, at most a second old; the ledger decides by its own copy."""
    return backend().ledger.windows(term)


def forget_windows() -> None:
    """Make the next request read the windows again."""
    windows.cache_clear()


def credit_limit(student: StudentProfile, catalog: TermCatalog) -> Decimal:
    """Return the most credits that the student may hold in a term."""
    return catalog.term.credit_limit if student.credit_limit is None else student.credit_limit


def drops_left(student: int, term: int, at: int) -> int:
    """Return how many drops the student has left on the day of `at` (ledger time, ms)."""
    return drops_left_after(backend().ledger.drops(term, student), term, at)


def drops_left_after(drops: Mapping[str, int], term: int, at: int) -> int:
    """Return the drops left on the day of `at`, given the drops by day."""
    day = datetime.fromtimestamp(at / 1000, backend().settings.zone).date().isoformat()
    return max(0, catalog_of(term).term.drops_per_day - drops.get(day, 0))


def days_around(now: datetime, zone: ZoneInfo) -> list[tuple[int, str]]:
    """Return the starts (ms) and names of three days, so that the ledger finds the current one.

    They fit a ledger whose clock differs from `now` by up to half a day.
    """
    first = (now.astimezone(zone) - HALF_A_DAY).date()
    around = [first + timedelta(days=number) for number in range(3)]
    starts = [datetime.combine(day, time.min, zone).timestamp() for day in around]
    return [(round(at * 1000), day.isoformat()) for at, day in zip(starts, around, strict=True)]
