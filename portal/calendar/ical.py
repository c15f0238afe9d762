"""The days on which a meeting is held."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vRecur
from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from portal.calendar.models import DayOff
from portal.catalog import formatting, requisites
from portal.catalog.models import Course, Meeting, Room, Section, Term, section_teachers
from portal.core.i18n import _
from portal.people.models import Instructor
from portal.recorder.models import Enrollment


def meeting_dates(days: int, first: date, last: date) -> Iterator[date]:
    """The dates from `first` to `last` on the days of a mask (Monday 1 … Sunday 64)."""
    for number in range((last - first).days + 1):
        day = first + timedelta(days=number)
        if days >> day.weekday() & 1:
            yield day


# The classes that a student holds, as PostgreSQL remembers them, for their calendar.


@dataclass(frozen=True)
class ClassMeeting:
    """One meeting of a class: `days` is a mask, Monday 1 … Sunday 64."""

    section: int
    position: int
    version: int  # of the section
    canceled: bool
    course: str  # code
    number: str
    title: str
    crn: str
    teachers: tuple[str, ...]
    kind: str
    exam: bool
    days: int
    starts: time
    ends: time
    first: date
    last: date
    room: str
    off: frozenset[date]  # days of the term without classes


def enrolled_meetings(session: Session, student: int) -> list[ClassMeeting]:
    """Every meeting with days and a time that the student holds, of all terms that are offered."""
    rows = session.execute(_meetings(student)).all()
    off = _days_off(session, {row.Section.term_id for row in rows})
    return [_held(row, off) for row in rows]


def _meetings(student: int) -> Any:
    return (
        select(Section, Course, Meeting, Room.name.label("room"), _teachers().label("teachers"))
        .join(Enrollment, Enrollment.section_id == Section.id)
        .join(Term, Term.id == Section.term_id)
        .join(Course, Course.id == Section.course_id)
        .join(Meeting, Meeting.section_id == Section.id)
        .outerjoin(Room, Room.id == Meeting.room_id)
        .where(
            Enrollment.student_id == student,
            Enrollment.state == "enrolled",
            Term.deleted_at.is_(None),
            Meeting.days > 0,
            Meeting.starts_at.is_not(None),
            Meeting.ends_at.is_not(None),
        )
        .order_by(Section.term_id, Section.id, Meeting.position)
    )


def _teachers() -> Any:
    return (
        select(func.array_agg(aggregate_order_by(Instructor.name, Instructor.name)))
        .join(section_teachers, section_teachers.c.teacher_id == Instructor.id)
        .where(section_teachers.c.section_id == Section.id, Instructor.deleted_at.is_(None))
        .correlate(Section)
        .scalar_subquery()
    )


def _days_off(session: Session, terms: set[int]) -> dict[int, frozenset[date]]:
    found = select(DayOff.term_id, DayOff.day).where(DayOff.term_id.in_(terms))
    rows = session.execute(found).all()
    return {term: frozenset(row.day for row in rows if row.term_id == term) for term in terms}


def _held(row: Row[Any], off: dict[int, frozenset[date]]) -> ClassMeeting:
    section, course, meeting = row.Section, row.Course, row.Meeting
    return ClassMeeting(
        section=section.id,
        position=meeting.position,
        version=section.version,
        canceled=section.status == "CANCELED" or section.deleted_at is not None,
        course=course.code,
        number=section.number,
        title=course.title or section.title,
        crn=section.crn,
        teachers=tuple(row.teachers or ()),
        kind=meeting.kind,
        exam=not meeting.clashes,
        days=meeting.days,
        starts=meeting.starts_at,
        ends=meeting.ends_at,
        first=meeting.date_start,
        last=meeting.date_end,
        room=row.room or "",
        off=off[section.term_id],
    )


# Classes as an iCalendar, which other programs show (RFC 5545).

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
REFRESH = timedelta(hours=1)
A_YEAR = timedelta(days=366)


def render_calendar(
    classes: Sequence[ClassMeeting], name: str, zone: ZoneInfo, stamp: datetime
) -> bytes:
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


def _days(meeting: ClassMeeting) -> list[date]:
    """The days on which it is held; none if it is but a time kept free for exams."""
    if meeting.exam:
        return [meeting.first] if meeting.first == meeting.last else []
    return [day for day in _pattern(meeting) if day not in meeting.off]


def _kept(section: int, classes: Iterable[ClassMeeting]) -> list[ClassMeeting]:
    """Times that are kept free for exams of the section all through the term."""
    return [
        each
        for each in classes
        if each.section == section and each.exam and each.first != each.last
    ]


def _event(
    meeting: ClassMeeting,
    days: list[date],
    kept: list[ClassMeeting],
    zone: ZoneInfo,
    stamp: datetime,
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


def _repeat(event: Event, meeting: ClassMeeting, days: list[date], zone: ZoneInfo) -> None:
    """Weekly from the first of the days to the last, without the days off between."""
    until = _at(days[-1], meeting.starts, zone).astimezone(UTC)
    names = [name for bit, name in enumerate(WEEKDAYS) if meeting.days >> bit & 1]
    event.add("rrule", vRecur(freq="WEEKLY", byday=names, until=until))
    between_them = (day for day in _pattern(meeting) if days[0] < day < days[-1])
    off = [_at(day, meeting.starts, zone) for day in between_them if day in meeting.off]
    if off:
        event.add("exdate", off)


def _pattern(meeting: ClassMeeting) -> list[date]:
    return list(meeting_dates(meeting.days, meeting.first, meeting.last))


def _summary(meeting: ClassMeeting) -> str:
    name = f"{requisites.shown(meeting.course)}-{meeting.number}"
    what = formatting.kind(meeting.kind) if meeting.exam else meeting.title
    if meeting.canceled:
        return _("Canceled: %(name)s %(title)s", name=name, title=what)
    return f"{name} {what}"


def _description(meeting: ClassMeeting, kept: list[ClassMeeting]) -> list[str]:
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
