"""Notes for a visitor whose device is in another time zone than the institution.

The zone of the device comes in a cookie that static/js/zone.js sets.
"""

from collections import Counter
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from babel.units import format_unit
from flask import has_request_context, request

from portal.catalog.local_time import LocalClock
from portal.core.i18n import _, current_locale
from portal.core.moments import milliseconds

COOKIE = "zone"
LONGEST = 64  # letters of a zone's name
WEEK = timedelta(weeks=1)


def device_zone() -> ZoneInfo | None:
    """Return the zone of the visitor's device; None if it is unknown."""
    return _zone(request.cookies.get(COOKIE, "")) if has_request_context() else None


def zone_note(clock: LocalClock, ms: int) -> str:
    """Return the institution's zone and the time of the device, if the device's clock differs."""
    time = clock.elsewhere(ms, device_zone())
    return _("%(zone)s (%(time)s your time)", zone=clock.name(ms), time=time) if time else ""


def zone_name(clock: LocalClock, ms: int) -> str:
    """Return the institution's zone alone if the device's clock differs."""
    return clock.name(ms) if zone_note(clock, ms) else ""


def clock_note(clock: LocalClock) -> str:
    """Return what the clocks of the device and of the institution show now, if they differ."""
    zone, now = device_zone(), datetime.now(UTC)
    if zone is None or _hours_ahead(zone, clock.zone, now) == 0:
        return ""
    ms = milliseconds(now.replace(second=0, microsecond=0))
    return _(
        "Your device’s clock shows %(device)s, the institution’s %(institution)s.",
        device=LocalClock(zone).clock(ms),
        institution=clock.clock(ms),
    )


def term_note(clock: LocalClock, first: date, last: date) -> str:
    """Return by how much the device's clock differs during a term; blank if it does not."""
    zone = device_zone()
    differences = _differences(zone, clock.zone, first, last) if zone else []
    hours = next(filter(None, differences), 0)
    if zone is None or not hours:
        return ""
    facts = {
        "zone": LocalClock(zone).zone_name,
        "difference": format_unit(abs(hours), "hour", "long", locale=current_locale()),
    }
    text = (
        _("Your device is set to %(zone)s, where clocks are %(difference)s ahead of these times.")
        if hours > 0
        else _(
            "Your device is set to %(zone)s, where clocks are %(difference)s behind these times."
        )
    ) % facts
    if len(differences) == 1:
        return text
    varies = _("The difference changes during the term.")
    return f"{text} {varies}"


def _differences(zone: ZoneInfo, institution: ZoneInfo, first: date, last: date) -> list[float]:
    """Return the differences in hours during a term, those that last longest first."""
    start = datetime.combine(first, time.min, UTC)
    weeks = range((last - first) // WEEK + 1)
    hours = Counter(_hours_ahead(zone, institution, start + week * WEEK) for week in weeks)
    return [difference for difference, _count in hours.most_common()]


def _hours_ahead(zone: ZoneInfo, institution: ZoneInfo, moment: datetime) -> float:
    here, there = (moment.astimezone(each).utcoffset() for each in (zone, institution))
    return ((here or timedelta()) - (there or timedelta())) / timedelta(hours=1)


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo | None:
    if not name or len(name) > LONGEST:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
