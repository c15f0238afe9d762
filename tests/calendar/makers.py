"""Meetings for the tests of weeks and calendars, and what a calendar's reader makes of one."""

from dataclasses import dataclass
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from dateutil.rrule import rrulestr
from icalendar import Calendar, Event

from portal.calendar.ical import ClassMeeting, render_calendar

NEW_YORK = ZoneInfo("America/New_York")
STAMP = datetime(2030, 5, 1, 12, tzinfo=ZoneInfo("UTC"))
FALL = {"first": date(2030, 8, 26), "last": date(2030, 12, 20)}


@dataclass(frozen=True)
class Slot:
    """A meeting as the grid needs it: days of a mask, minutes since midnight."""

    mask: int
    start: int
    end: int


def a_class(
    days: str = "MR", starts: str = "10:00", ends: str = "11:50", **facts: Any
) -> ClassMeeting:
    """A meeting of a class in fall 2030, which begins and ends on other days than term does."""
    usual: dict[str, Any] = {
        "section": 12,
        "position": 0,
        "version": 3,
        "canceled": False,
        "course": "CSC-1100",
        "number": "01",
        "title": "Data Structures",
        "crn": "1001",
        "instructors": ("Iris",),
        "kind": "LEC",
        "exam": False,
        "room": "Alder Hall 1",
        "off": frozenset(),
        **FALL,
    }
    mask = sum(1 << "MTWRFSU".index(day) for day in days)
    at = {"starts": time.fromisoformat(starts), "ends": time.fromisoformat(ends)}
    return ClassMeeting(days=mask, **at, **usual | facts)


def read(*classes: ClassMeeting, zone: ZoneInfo = NEW_YORK) -> Calendar:
    """The calendar of these classes, written and read again."""
    return Calendar.from_ical(render_calendar(classes, "Classes", zone, STAMP))


def only(found: Calendar) -> Event:
    """Its one event."""
    [event] = found.walk("VEVENT")
    return event


def occurrences(event: Event) -> list[datetime]:
    """When an event begins, each time, as a program shows it: wall time repeats, not UTC."""
    start: datetime = event["DTSTART"].dt
    if "RRULE" not in event:
        return [start]
    rule = rrulestr(event["RRULE"].to_ical().decode(), dtstart=start)
    off = event.get("EXDATE")
    gone = {each.dt for each in off.dts} if off else set()
    return [each for each in rule if each not in gone]
