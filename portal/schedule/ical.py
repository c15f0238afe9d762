"""Classes as an iCalendar, which other programs show (RFC 5545)."""

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vRecur

from portal.catalog import formatting, requisites
from portal.core.i18n import _
from portal.schedule.classes import Held
from portal.schedule.dates import between

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
REFRESH = timedelta(hours=1)
A_YEAR = timedelta(days=366)


def calendar(classes: Sequence[Held], name: str, zone: ZoneInfo, stamp: datetime) -> bytes:
    """The calendar of that name; `stamp` is since when it has been as it is."""
    made = Calendar()
    made.add("prodid", "-//Fairseat//Schedule//EN")
    made.add("version", "2.0")
    made.add("calscale", "GREGORIAN")
    made.add("name", name)
    made.add("x-wr-calname", name)
    made.add("x-wr-timezone", zone.key)
    made.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    for each in classes:
        if days := _days(each):
            made.add_component(_event(each, days, _kept(each.section, classes), zone, stamp))
    if classes:
        # Clocks change within these years: a program need know no others.
        first, last = min(each.first for each in classes), max(each.last for each in classes)
        made.add_missing_timezones(first - A_YEAR, last + A_YEAR)
    text: bytes = made.to_ical()
    return text


def _days(meeting: Held) -> list[date]:
    """The days on which it is held; none if it is but a time kept free for exams."""
    if meeting.exam:
        return [meeting.first] if meeting.first == meeting.last else []
    return [day for day in _pattern(meeting) if day not in meeting.off]


def _kept(section: int, classes: Iterable[Held]) -> list[Held]:
    """Times that are kept free for exams of the section all through the term."""
    return [
        each
        for each in classes
        if each.section == section and each.exam and each.first != each.last
    ]


def _event(
    meeting: Held, days: list[date], kept: list[Held], zone: ZoneInfo, stamp: datetime
) -> Event:
    event = Event()
    event.add("uid", f"section-{meeting.section}-meeting-{meeting.position}@fairseat")
    event.add("dtstamp", stamp.astimezone(UTC))
    event.add("sequence", meeting.version)
    event.add("summary", _summary(meeting))
    event.add("dtstart", _at(days[0], meeting.starts, zone))
    event.add("dtend", _at(days[0], meeting.ends, zone))
    if len(days) > 1:
        _repeat(event, meeting, days, zone)
    if meeting.room:
        event.add("location", meeting.room)
    event.add("description", "\n".join(_description(meeting, kept)))
    event.add("status", "CANCELLED" if meeting.canceled else "CONFIRMED")
    return event


def _repeat(event: Event, meeting: Held, days: list[date], zone: ZoneInfo) -> None:
    """Weekly from the first of the days to the last, without the days off between."""
    until = _at(days[-1], meeting.starts, zone).astimezone(UTC)
    names = [name for bit, name in enumerate(WEEKDAYS) if meeting.days >> bit & 1]
    event.add("rrule", vRecur(freq="WEEKLY", byday=names, until=until))
    between_them = (day for day in _pattern(meeting) if days[0] < day < days[-1])
    off = [_at(day, meeting.starts, zone) for day in between_them if day in meeting.off]
    if off:
        event.add("exdate", off)


def _pattern(meeting: Held) -> list[date]:
    return list(between(meeting.days, meeting.first, meeting.last))


def _summary(meeting: Held) -> str:
    name = f"{requisites.shown(meeting.course)}-{meeting.number}"
    what = formatting.kind(meeting.kind) if meeting.exam else meeting.title
    if meeting.canceled:
        return _("Canceled: %(name)s %(title)s", name=name, title=what)
    return f"{name} {what}"


def _description(meeting: Held, kept: list[Held]) -> list[str]:
    lines = [formatting.kind(meeting.kind)] if meeting.kind else []
    if meeting.teachers:
        lines.append(_("With %(teachers)s", teachers=", ".join(meeting.teachers)))
    lines.append(_("CRN %(crn)s", crn=meeting.crn))
    for each in kept:
        days, times = formatting.days(each.days), formatting.times(each.starts, each.ends)
        lines.append(_("Kept free for exams: %(days)s %(times)s", days=days, times=times))
    return lines


def _at(day: date, clock: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, clock, zone)
