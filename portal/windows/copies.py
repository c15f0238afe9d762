"""The windows of a term, moved to another: as many weeks later as that term begins later."""

from collections.abc import Iterable
from datetime import timedelta

from portal.catalog.local_time import LocalClock
from portal.ledger.types import WindowView
from portal.windows.service import NewWindow


def moved(
    windows: Iterable[WindowView], weeks: timedelta, clock: LocalClock, now: int
) -> list[NewWindow]:
    """Return the windows at the same weekday and local time, if they open in the future.

    Canceled windows are left out.
    """

    def later(ms: int) -> int:
        return round((clock.at(ms) + weeks).timestamp() * 1000)

    found = [
        NewWindow(each.name, later(each.opens), later(each.closes), dict(each.cohort))
        for each in sorted(windows, key=lambda each: (each.opens, each.id))
        if each.state != "canceled"
    ]
    return [each for each in found if each.opens > now]
