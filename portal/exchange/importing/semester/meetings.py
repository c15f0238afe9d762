"""Meetings out of meetings.csv: days, times, dates, room, teachers, and exam blocks."""

import re
from datetime import date, time
from itertools import combinations

from portal.catalog.spellings import Unreadable, date_of, days_of, time_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester import sections
from portal.exchange.importing.semester.model import Meeting, Semester
from portal.exchange.importing.tables import Row

KINDS = {
    "LECTURE": "LEC",
    "LABORATORY": "LAB",
    "RECITATION": "REC",
    "DISCUSSION": "REC",
    "SEMINAR": "SEM",
    "STUDIO": "STU",
    "TEST": "TES",
    "EXAM": "TES",
    "COMMON EXAM": "TES",
    "FINAL EXAM": "TES",
    "EXAMINATION": "TES",
}
EXAM = "TES"
WHOLE_DAY = 8 * 60  # minutes beyond which a meeting is no class but a day kept free
NOBODY = {"", "STAFF", "TBA", "TBD", "UNKNOWN", "TO BE ANNOUNCED", "NONE"}
NOWHERE = {"", "TBA", "TBD", "TO BE ANNOUNCED", "NONE", "ARR", "N/A"}
LAST_MINUTE = time(23, 59)
Times = tuple[time | None, time | None]


def read_meeting(row: Row, semester: Semester, report: Report) -> None:
    """Add the meeting of a row to its section."""
    section = semester.sections.get(row["crn"])
    if section is None:
        return report.note("orphan", row, "crn")
    days = read_days(row, report)
    starts_at, ends_at = read_times(row, days, report)
    first, last = read_dates(row, report)
    kind = row["meeting_type"].upper()
    meeting = Meeting(
        kind=KINDS.get(kind, kind)[:12],
        days=days,
        starts_at=starts_at,
        ends_at=ends_at,
        first=first,
        last=last,
        room=read_room(row, report),
        clashes=True,
    )
    if meeting.kind == EXAM or length(meeting) > WHOLE_DAY:
        meeting.clashes = False
        report.note("exam_block", row, "meeting_type")
    section.meetings.append(meeting)
    section.teachers |= dict.fromkeys(teachers(row, report))
    return sections.left_out(row, ("frequency",), report)


def read_days(row: Row, report: Report) -> int:
    """The days as a mask; 0 where there are none or they make no sense."""
    try:
        return days_of(row["days"])
    except Unreadable as error:
        report.note("days_unreadable", row, "days", error.stored)
        return 0


def read_times(row: Row, days: int, report: Report) -> Times:
    """From when to when; both or neither, and only with days."""
    try:
        starts_at, ends_at = time_of(row["start_time"]), time_of(row["end_time"])
    except Unreadable as error:
        report.note("times_unreadable", row, "start_time", error.stored)
        return None, None
    if starts_at is None and ends_at is None:
        if days:
            report.note("days_without_time", row, "days")
        return None, None
    return settled(row, days, starts_at, ends_at, report)


def settled(
    row: Row, days: int, starts_at: time | None, ends_at: time | None, report: Report
) -> Times:
    """The times if they make a meeting, else none."""
    if starts_at is None or ends_at is None:
        report.note(
            "times_unreadable",
            row,
            "end_time",
            stored_message(_k("One of the two times is missing.")),
        )
        return None, None
    if ends_at == time(0) < starts_at:
        report.note("midnight", row, "end_time")
        ends_at = LAST_MINUTE
    if not starts_at < ends_at:
        report.note(
            "times_unreadable", row, "end_time", stored_message(_k("It ends before it begins."))
        )
        return None, None
    if not days:
        report.note(
            "time_without_days",
            row,
            "start_time",
            stored_message(_k("It ends at %(time)s."), time=row["end_time"]),
        )
        return None, None
    return starts_at, ends_at


def read_dates(row: Row, report: Report) -> tuple[date | None, date | None]:
    """The first and last day; None where the term's own will stand in."""
    try:
        first, last = date_of(row["date_start"]), date_of(row["date_end"])
    except Unreadable as error:
        report.note("dates_unreadable", row, "date_start", error.stored)
        return None, None
    if first is None or last is None:
        report.note("dates_missing", row, "date_start")
    elif last < first:
        report.note("dates_reversed", row, "date_end")
        return last, first
    return first, last


def read_room(row: Row, report: Report) -> str:
    """The room; blank where none is given."""
    room = sections.text(row, "location", 80, report)
    return "" if room.upper() in NOWHERE else room


def teachers(row: Row, report: Report) -> list[str]:
    """Who teaches; `Staff` is nobody."""
    names = [" ".join(name.split()) for name in re.split(r"[/;|]", row["instructors"])]
    if any(len(name) > 160 for name in names):
        report.note("too_long", row, "instructors")
    return [name[:160] for name in names if name.strip("* ").upper() not in NOBODY]


def length(meeting: Meeting) -> int:
    """Minutes that a meeting lasts; 0 where it's TBA."""
    if meeting.starts_at is None or meeting.ends_at is None:
        return 0
    return minutes(meeting.ends_at) - minutes(meeting.starts_at)


def minutes(moment: time) -> int:
    return moment.hour * 60 + moment.minute


def set_dates(semester: Semester, starts: date | None, ends: date | None) -> None:
    """The term's dates are the outermost of all meetings; `starts` and `ends` go before them."""
    meetings = [each for section in semester.sections.values() for each in section.meetings]
    firsts = [each.first for each in meetings if each.first]
    lasts = [each.last for each in meetings if each.last]
    if not (starts or firsts) or not (ends or lasts):
        raise ImportFailedError(
            _k(
                "No meeting has dates: give the term’s first and last day, in the form or with"
                " --starts and --ends."
            )
        )
    semester.starts_on = starts or min(firsts)
    semester.ends_on = ends or max(lasts)
    if semester.ends_on < semester.starts_on:
        raise ImportFailedError(
            _k("The term would end %(day)s, before it begins."), day=semester.ends_on
        )
    for meeting in meetings:
        fill(meeting, semester)


def fill(meeting: Meeting, semester: Semester) -> None:
    """Give a meeting the term's dates where it lacks its own."""
    meeting.first = meeting.first or min(semester.starts_on, meeting.last or date.max)
    meeting.last = meeting.last or max(semester.ends_on, meeting.first)


def note_overlaps(semester: Semester, report: Report) -> None:
    """Report sections with two meetings at the same time."""
    for section in semester.sections.values():
        if any(overlap(one, other) for one, other in combinations(section.meetings, 2)):
            report.note("overlaps_itself", section.row)


def overlap(one: Meeting, other: Meeting) -> bool:
    """Whether two meetings share a day of the week, time of day and stretch of dates."""
    if not (one.starts_at and one.ends_at and other.starts_at and other.ends_at):
        return False
    if not (one.first and one.last and other.first and other.last):
        return False
    return bool(
        one.days & other.days
        and one.starts_at < other.ends_at
        and other.starts_at < one.ends_at
        and one.first <= other.last
        and other.first <= one.last
    )
