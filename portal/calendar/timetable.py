"""A student's timetable: seats and waitlist positions as a weekly grid and lists; and breaks."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from zlib import crc32

from sqlalchemy import select

from portal.calendar.models import DayOff
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.views import MeetingView, SectionView, TermView
from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.ledger.types import HeldSeat, Registrations, WaitlistPosition
from portal.recorder import read_with_fallback

STEP = 5  # minutes: the grid's finest line
TINTS = 8  # colors that tell courses apart (static/css/schedule.css)
HOUR = 60
WORKDAYS = 5
BREAKS_FRESH_SECONDS = 10


@dataclass(frozen=True)
class Entry:
    """A section that a student has or waits for; `section_view` is None if it no longer exists."""

    section: int
    credits: int  # hundredths
    section_view: SectionView | None
    tint: int  # from 1, the same for all sections of a course
    position: WaitlistPosition | None = None

    @property
    def canceled(self) -> bool:
        return self.section_view is None or self.section_view.status == "CANCELED"

    @property
    def meetings(self) -> tuple[MeetingView, ...]:
        """Its meetings without exams."""
        every = self.section_view.meetings if self.section_view else ()
        return tuple(meeting for meeting in every if meeting.clashes)

    @property
    def exams(self) -> tuple[MeetingView, ...]:
        """Return the blocks of its exams, fixed or possible."""
        every = self.section_view.meetings if self.section_view else ()
        return tuple(meeting for meeting in every if not meeting.clashes)


@dataclass(frozen=True)
class TimedMeeting:
    """A meeting with days and a time, for the grid: minutes since midnight."""

    entry: Entry
    meeting: MeetingView
    start: int
    end: int

    @property
    def mask(self) -> int:
        """Its days: Monday 1 … Sunday 64."""
        return self.meeting.mask


@dataclass(frozen=True)
class Block:
    """A meeting in the grid: top and length in minutes, and its lanes side by side."""

    content: TimedMeeting
    top: int
    length: int
    lane: int  # from 1
    across: int  # how many lanes it fills


@dataclass(frozen=True)
class Day:
    """A column of the grid: `weekday` 0 is Monday; blocks by time."""

    weekday: int
    lanes: int
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Week:
    """Monday to Friday, and weekend days with meetings, from one full hour to another."""

    days: tuple[Day, ...]
    first_hour: int
    last_hour: int

    @property
    def hours(self) -> int:
        """Return how many hours it shows; 0 if nothing has a time."""
        return self.last_hour - self.first_hour


def week(meetings: Iterable[TimedMeeting]) -> Week:
    """Return the grid of all meetings, each on every day that it meets."""
    found = list(meetings)
    first = min((each.start // HOUR for each in found), default=0)
    last = max((-(-each.end // HOUR) for each in found), default=0)
    used = [[each for each in found if each.mask >> weekday & 1] for weekday in range(7)]
    days = [
        _day(weekday, held, first * HOUR)
        for weekday, held in enumerate(used)
        if held or weekday < WORKDAYS
    ]
    return Week(tuple(days), first, last)


def _day(weekday: int, meetings: list[TimedMeeting], top: int) -> Day:
    """Return a day; the last lane of meetings that overlap extends to the edge of the day."""
    clusters = [_in_lanes(cluster) for cluster in _clusters(meetings)]
    across = max(map(len, clusters), default=1)
    blocks = [
        Block(
            content=each,
            top=_start(each) - top,
            length=_end(each) - _start(each),
            lane=number,
            across=across - number + 1 if number == len(lanes) else 1,
        )
        for lanes in clusters
        for number, lane in enumerate(lanes, 1)
        for each in lane
    ]
    blocks.sort(key=lambda block: _by_time(block.content))
    return Day(weekday, across, tuple(blocks))


def _clusters(meetings: list[TimedMeeting]) -> Iterator[list[TimedMeeting]]:
    """Yield groups of meetings that overlap, directly or through others."""
    cluster: list[TimedMeeting] = []
    for each in sorted(meetings, key=_by_time):
        if cluster and _start(each) >= max(map(_end, cluster)):
            yield cluster
            cluster = []
        cluster.append(each)
    if cluster:
        yield cluster


def _in_lanes(cluster: list[TimedMeeting]) -> list[list[TimedMeeting]]:
    """Put each meeting into the first free lane."""
    lanes: list[list[TimedMeeting]] = []
    for each in cluster:
        free = next((lane for lane in lanes if _end(lane[-1]) <= _start(each)), None)
        if free is None:
            lanes.append([each])
        else:
            free.append(each)
    return lanes


def _by_time(each: TimedMeeting) -> tuple[int, int]:
    return each.start, each.end


def _start(each: TimedMeeting) -> int:
    return each.start // STEP * STEP


def _end(each: TimedMeeting) -> int:
    return -(-each.end // STEP) * STEP


@dataclass(frozen=True)
class Break:
    """Consecutive days off with one name: no class of the term meets."""

    name: str
    first: date
    last: date


@dataclass(frozen=True)
class Timetable:
    """A student's sections of a term, with the days off."""

    term: TermView
    selected: tuple[Entry, ...]
    waiting: tuple[Entry, ...]
    breaks: tuple[Break, ...]
    recorded: bool  # from PostgreSQL, because the ledger is away

    @property
    def credits(self) -> int:
        """Credits of the student's seats, in hundredths."""
        return sum(entry.credits for entry in self.selected)

    @cached_property
    def week(self) -> Week:
        """Return the weekly grid, without exams."""
        return week(each for entry in self.running for each in _timed(entry))

    @property
    def running(self) -> list[Entry]:
        """Return the student's sections that are not canceled."""
        return [entry for entry in self.selected if not entry.canceled]

    @property
    def without_time(self) -> list[Entry]:
        """Sections with meetings that have no time yet."""
        return [
            entry
            for entry in self.running
            if len(list(_timed(entry))) < max(1, len(entry.meetings))
        ]

    @property
    def exams(self) -> list[tuple[Entry, MeetingView]]:
        """Exam blocks by date, then time."""
        every = [(entry, meeting) for entry in self.running for meeting in entry.exams]
        return sorted(every, key=lambda each: (each[1].first, each[1].mask, each[1].start or 0))

    @property
    def checksum(self) -> str:
        """Return a checksum; a page gets a new timetable only if it differs."""
        shown = [_shown(entry) for entry in (*self.selected, *self.waiting)]
        return f"{crc32(repr((shown, self.breaks, self.recorded)).encode()):08x}"


def timetable(catalog: TermCatalog, student: int) -> Timetable:
    found = read_with_fallback.registrations(catalog.term.id, student)
    tints = _tints(found, catalog)

    def entry(held: HeldSeat | WaitlistPosition, position: WaitlistPosition | None = None) -> Entry:
        section_view = catalog.section(held.section)
        return Entry(held.section, held.credits, section_view, tints[held.section], position)

    selected = [entry(held) for held in found.enrolled]
    waiting = [entry(position, position) for position in found.waiting]
    try:
        off = breaks(catalog.term.id)
    except AWAY:
        off = ()
    return Timetable(
        catalog.term,
        tuple(sorted(selected, key=_code)),
        tuple(sorted(waiting, key=_code)),
        off,
        read_with_fallback.recorded(),
    )


def _code(entry: Entry) -> tuple[str, str]:
    return (
        (entry.section_view.course_code, entry.section_view.number)
        if entry.section_view
        else ("", "")
    )


def _tints(found: Registrations, catalog: TermCatalog) -> dict[int, int]:
    """Return tints by section, in order of registration: a later course changes no earlier tint."""
    every: Iterable[HeldSeat | WaitlistPosition] = (*found.enrolled, *found.waiting)
    sections = [each.section for each in sorted(every, key=lambda each: each.at)]
    views = {section: catalog.section(section) for section in sections}
    courses = {
        section: section_view.course_id if section_view else -section
        for section, section_view in views.items()
    }
    order = list(dict.fromkeys(courses.values()))
    return {section: order.index(course) % TINTS + 1 for section, course in courses.items()}


def _shown(entry: Entry) -> tuple[object, ...]:
    """Return what a page shows of an entry."""
    section_view = entry.section_view
    known = (
        (section_view.title, section_view.status, section_view.instructors, section_view.meetings)
        if section_view
        else ()
    )
    return (entry.section, entry.credits, entry.tint, entry.position, *known)


def _timed(entry: Entry) -> Iterator[TimedMeeting]:
    for each in entry.meetings:
        if each.mask and each.start is not None and each.end is not None:
            yield TimedMeeting(entry, each, each.start, each.end)


# Breaks, from the days off of a term


def breaks(term_id: int) -> tuple[Break, ...]:
    """Return the breaks of a term in order, at most 10 seconds old."""
    return _breaks.get(term_id)


def join_days(days: Iterable[tuple[date, str]]) -> tuple[Break, ...]:
    """Return days as breaks: consecutive days with one name make one break."""
    found: list[Break] = []
    for day, name in sorted(days):
        before = found[-1] if found else None
        if before and before.name == name and day - before.last == timedelta(days=1):
            found[-1] = replace(before, last=day)
        else:
            found.append(Break(name, day, day))
    return tuple(found)


def _read_breaks(term_id: int) -> tuple[Break, ...]:
    with transaction() as session:
        found = session.execute(select(DayOff.day, DayOff.name).where(DayOff.term_id == term_id))
        return join_days((row.day, row.name) for row in found)


_breaks = Cache(_read_breaks, BREAKS_FRESH_SECONDS)
