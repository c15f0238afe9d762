"""The time zone of the visitor's device, as its script says it in a cookie (static/js/zone.js)."""

from functools import lru_cache
from zoneinfo import ZoneInfo

from flask import has_request_context, request

from portal.catalog.local_time import LocalClock
from portal.core.i18n import _

COOKIE = "zone"
LONGEST = 64  # letters of a zone's name


def zone_note(clock: LocalClock, ms: int) -> str:
    """Return the institution's zone and the time of the device, if the device's clock differs."""
    zone = _zone(request.cookies.get(COOKIE, "")) if has_request_context() else None
    own = LocalClock(zone) if zone else clock
    here, there = own.at(ms), clock.at(ms)
    if here.utcoffset() == there.utcoffset():
        return ""
    time = own.clock(ms) if here.date() == there.date() else f"{own.weekday(ms)}, {own.clock(ms)}"
    return _("%(zone)s (%(time)s your time)", zone=clock.name(ms), time=time)


@lru_cache(maxsize=256)
def _zone(name: str) -> ZoneInfo | None:
    """Return a zone by its name; None if it is unknown."""
    if not name or len(name) > LONGEST:
        return None
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
