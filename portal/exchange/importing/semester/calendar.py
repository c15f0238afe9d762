"""What only all meetings together tell: the term's dates, and sections that overlap themselves."""

from datetime import date
from itertools import combinations

from portal.core.i18n import _k
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.semester import Meeting, Semester


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
    """Name sections of which two meetings are at one time."""
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
