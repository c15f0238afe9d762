"""The classes of a student as an iCalendar (RFC 5545), for other calendar programs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from icalendar import Calendar, Event, vRecur
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from portal.calendar.models import DayOff
from portal.catalog import formatting, requisites
from portal.catalog.models import (
    Course,
    Instructor,
    Meeting,
    Room,
    Section,
    Term,
    section_instructors,
)
from portal.core.i18n import _
from portal.recorder.models import Enrollment

WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
REFRESH = timedelta(hours=1)
YEAR = timedelta(days=366)


@dataclass(frozen=True)
class ClassMeeting:
    """A meeting of a class: `days` is a mask, Monday 1 … Sunday 64."""

    section: int
    position: int
    version: int  # of the section
    canceled: bool
    course: str  # code
    number: str
    title: str
    crn: str
    instructors: tuple[str, ...]
    kind: str
    exam: bool
    days: int
    starts: time
    ends: time
    first: date
    last: date
    room: str
    off: frozenset[date]  # days off of the term

    @property
    def dates(self) -> list[date]:
        """Every date on its weekdays, days off included."""
        return meeting_dates(self.days, self.first, self.last)


def meeting_dates(days: int, first: date, last: date) -> list[date]:
    """Return the dates from `first` to `last` on the days of a mask (Monday 1 … Sunday 64)."""
    every = (first + timedelta(days=number) for number in range((last - first).days + 1))
    return [day for day in every if days >> day.weekday() & 1]


def enrolled_meetings(session: Session, student: int) -> list[ClassMeeting]:
    """Return all meetings with days and a time of the student's seats, in all live terms."""
    instructors = (
        select(func.array_agg(aggregate_order_by(Instructor.name, Instructor.name)))
        .join(section_instructors, section_instructors.c.instructor_id == Instructor.id)
        .where(section_instructors.c.section_id == Section.id, Instructor.deleted_at.is_(None))
        .correlate(Section)
        .scalar_subquery()
    )
    off = (
        select(func.array_agg(DayOff.day))
        .where(DayOff.term_id == Section.term_id)
        .correlate(Section)
        .scalar_subquery()
    )
    query = (
        select(
            Section.id.label("section"),
            Meeting.position,
            Section.version,
            or_(Section.status == "CANCELED", Section.deleted_at.is_not(None)).label("canceled"),
            Course.code.label("course"),
            Section.number,
            func.coalesce(func.nullif(Course.title, ""), Section.title).label("title"),
            Section.crn,
            instructors.label("instructors"),
            Meeting.kind,
            (~Meeting.clashes).label("exam"),
            Meeting.days,
            Meeting.starts_at.label("starts"),
            Meeting.ends_at.label("ends"),
            Meeting.date_start.label("first"),
            Meeting.date_end.label("last"),
            func.coalesce(Room.name, "").label("room"),
            off.label("off"),
        )
        .select_from(Enrollment)
        .join(Section, Section.id == Enrollment.section_id)
        .join(Term, Term.id == Section.term_id)
        .join(Course, Course.id == Section.course_id)
        .join(Meeting, Meeting.section_id == Section.id)
        .outerjoin(Room, Room.id == Meeting.room_id)
        .where(
            Enrollment.student_id == student,
            Enrollment.state == "enrolled",
            Term.deleted_at.is_(None),
            Term.state != "draft",
            Meeting.days > 0,
            Meeting.starts_at.is_not(None),
            Meeting.ends_at.is_not(None),
        )
        .order_by(Section.term_id, Section.id, Meeting.position)
    )
    return [
        ClassMeeting(
            **row
            | {"instructors": tuple(row["instructors"] or ()), "off": frozenset(row["off"] or ())}
        )
        for row in map(dict, session.execute(query).mappings())
    ]


def render_calendar(
    classes: Sequence[ClassMeeting], name: str, zone: ZoneInfo, stamp: datetime
) -> bytes:
    """Return the calendar with that name; `stamp` is when its content last changed."""
    calendar = Calendar()
    calendar.add("prodid", "-//Fairseat//Schedule//EN")
    calendar.add("version", "2.0")
    calendar.add("calscale", "GREGORIAN")
    calendar.add("name", name)
    calendar.add("x-wr-calname", name)
    calendar.add("x-wr-timezone", zone.key)
    calendar.add("refresh-interval", REFRESH, parameters={"VALUE": "DURATION"})
    for each in classes:
        if days := _event_dates(each):
            exam_times = [
                other
                for other in classes
                if other.section == each.section and other.exam and other.first != other.last
            ]
            calendar.add_component(_event(each, days, exam_times, zone, stamp))
    if classes:
        # A program needs the clock changes of these years alone.
        first, last = min(each.first for each in classes), max(each.last for each in classes)
        calendar.add_missing_timezones(first - YEAR, last + YEAR)
    text: bytes = calendar.to_ical()
    return text


def _event_dates(meeting: ClassMeeting) -> list[date]:
    """Return the dates of a meeting; none for a time kept free for exams all through the term."""
    if meeting.exam:
        return [meeting.first] if meeting.first == meeting.last else []
    return [day for day in meeting.dates if day not in meeting.off]


def _event(
    meeting: ClassMeeting,
    days: list[date],
    exam_times: list[ClassMeeting],
    zone: ZoneInfo,
    stamp: datetime,
) -> Event:
    event = Event()
    event.add("uid", f"section-{meeting.section}-meeting-{meeting.position}@fairseat")
    event.add("dtstamp", stamp.astimezone(UTC))
    event.add("sequence", meeting.version)
    event.add("summary", _summary(meeting))
    event.add("dtstart", datetime.combine(days[0], meeting.starts, zone))
    event.add("dtend", datetime.combine(days[0], meeting.ends, zone))
    if len(days) > 1:
        _repeat(event, meeting, days, zone)
    if meeting.room:
        event.add("location", meeting.room)
    event.add("description", "\n".join(_description(meeting, exam_times)))
    event.add("status", "CANCELLED" if meeting.canceled else "CONFIRMED")
    return event


def _repeat(event: Event, meeting: ClassMeeting, days: list[date], zone: ZoneInfo) -> None:
    """Repeat weekly from the first to the last of the days, without the days off between."""
    until = datetime.combine(days[-1], meeting.starts, zone).astimezone(UTC)
    names = [name for bit, name in enumerate(WEEKDAYS) if meeting.days >> bit & 1]
    event.add("rrule", vRecur(freq="WEEKLY", byday=names, until=until))
    off = [
        datetime.combine(day, meeting.starts, zone)
        for day in meeting.dates
        if days[0] < day < days[-1] and day in meeting.off
    ]
    if off:
        event.add("exdate", off)


def _summary(meeting: ClassMeeting) -> str:
    name = f"{requisites.shown(meeting.course)}-{meeting.number}"
    title = formatting.kind(meeting.kind) if meeting.exam else meeting.title
    if meeting.canceled:
        return _("Canceled: %(name)s %(title)s", name=name, title=title)
    return f"{name} {title}"


def _description(meeting: ClassMeeting, exam_times: list[ClassMeeting]) -> list[str]:
    lines = [formatting.kind(meeting.kind)] if meeting.kind else []
    if meeting.instructors:
        lines.append(_("With %(instructors)s", instructors=", ".join(meeting.instructors)))
    lines.append(_("CRN %(crn)s", crn=meeting.crn))
    for each in exam_times:
        days, times = formatting.days(each.days), formatting.times(each.starts, each.ends)
        lines.append(_("Reserved for exams: %(days)s %(times)s", days=days, times=times))
    return lines
