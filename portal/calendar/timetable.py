"""A student's timetable: what they have and wait for, as a weekly grid and as lists."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, Protocol, TypeVar
from zlib import crc32

from portal.calendar.days_off import Break, breaks
from portal.catalog.term_catalog import TermCatalog
from portal.catalog.views import MeetingView, SectionView, TermView
from portal.core.cache import AWAY
from portal.ledger.types import HeldSeat, Standing, WaitlistPosition
from portal.recorder import read_with_fallback

STEP = 5  # minutes: the grid's finest line
TINTS = 8  # colors that tell courses apart (static/css/schedule.css)
HOUR = 60
WORKDAYS = 5


class Timed(Protocol):
    """Content of a grid: a mask of days (Monday 1 … Sunday 64), minutes since midnight."""

    @property
    def mask(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Content = TypeVar("Content", bound=Timed)


@dataclass(frozen=True)
class Block(Generic[Content]):
    """A meeting in the grid: top and length in minutes, and its lanes side by side."""

    content: Content
    top: int
    length: int
    lane: int  # from 1
    across: int  # how many lanes it fills

    @property
    def bottom(self) -> int:
        """Minutes from the grid's top to its end."""
        return self.top + self.length


@dataclass(frozen=True)
class Day(Generic[Content]):
    """A column of the grid: `weekday` 0 is Monday; blocks by time."""

    weekday: int
    lanes: int
    blocks: tuple[Block[Content], ...]


@dataclass(frozen=True)
class Week(Generic[Content]):
    """Monday to Friday, and weekend days with meetings, from one full hour to another."""

    days: tuple[Day[Content], ...]
    first_hour: int
    last_hour: int

    @property
    def hours(self) -> int:
        """How many hours it shows; 0 if nothing has a time."""
        return self.last_hour - self.first_hour


def week(meetings: Iterable[Content]) -> Week[Content]:
    """Return the grid of all meetings, each on every day that it meets."""
    found = list(meetings)
    first = min((each.start // HOUR for each in found), default=0)
    last = max((-(-each.end // HOUR) for each in found), default=0)
    used = [[each for each in found if each.mask >> day & 1] for day in range(7)]
    days = [
        _day(number, held, first * HOUR)
        for number, held in enumerate(used)
        if held or number < WORKDAYS
    ]
    return Week(tuple(days), first, last)


def _day(weekday: int, meetings: list[Content], top: int) -> Day[Content]:
    ordered = sorted(meetings, key=lambda each: (each.start, each.end))
    clusters = [_laned(cluster) for cluster in _clusters(ordered)]
    lanes = max((_lanes_used(cluster) for cluster in clusters), default=1)
    blocks = [
        _block(content, lane, _lanes_used(cluster), lanes, top)
        for cluster in clusters
        for content, lane in cluster
    ]
    return Day(weekday, lanes, tuple(blocks))


def _clusters(ordered: Sequence[Content]) -> Iterator[list[Content]]:
    """Yield groups of meetings that overlap, directly or through others."""
    cluster: list[Content] = []
    for each in ordered:
        if cluster and _start(each) >= max(map(_end, cluster)):
            yield cluster
            cluster = []
        cluster.append(each)
    if cluster:
        yield cluster


def _laned(cluster: list[Content]) -> list[tuple[Content, int]]:
    """Put each meeting into the first free lane."""
    ends: list[int] = []
    placed = []
    for each in cluster:
        free = (lane for lane, end in enumerate(ends) if end <= _start(each))
        lane = next(free, len(ends))
        ends[lane : lane + 1] = [_end(each)]
        placed.append((each, lane + 1))
    return placed


def _lanes_used(cluster: list[tuple[Content, int]]) -> int:
    return max(lane for _, lane in cluster)


def _block(content: Content, lane: int, used: int, lanes: int, top: int) -> Block[Content]:
    """Return a block; the last lane of a cluster extends to the edge of the day."""
    across = lanes - used + 1 if lane == used else 1
    start, end = _start(content), _end(content)
    return Block(content, start - top, end - start, lane, across)


def _start(each: Timed) -> int:
    return each.start // STEP * STEP


def _end(each: Timed) -> int:
    return -(-each.end // STEP) * STEP


@dataclass(frozen=True)
class Entry:
    """A section that a student has or waits for; `card` is None if it no longer exists."""

    section: int
    credits: int  # hundredths
    card: SectionView | None
    tint: int  # from 1, the same for all sections of a course
    place: WaitlistPosition | None = None

    @property
    def canceled(self) -> bool:
        return self.card is None or self.card.status == "CANCELED"

    @property
    def meetings(self) -> tuple[MeetingView, ...]:
        """Its meetings without exams."""
        every = self.card.meetings if self.card else ()
        return tuple(meeting for meeting in every if meeting.clashes)

    @property
    def exams(self) -> tuple[MeetingView, ...]:
        """The blocks of its exams, fixed or possible."""
        every = self.card.meetings if self.card else ()
        return tuple(meeting for meeting in every if not meeting.clashes)


@dataclass(frozen=True)
class Meets:
    """A meeting with days and a time, for the grid."""

    entry: Entry
    meeting: MeetingView
    start: int
    end: int

    @property
    def mask(self) -> int:
        return self.meeting.mask


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
    def week(self) -> Week[Meets]:
        """The weekly grid, without exams."""
        return week(each for entry in self.running for each in _timed(entry))

    @property
    def running(self) -> list[Entry]:
        """The student's sections that are not canceled."""
        return [entry for entry in self.selected if not entry.canceled]

    @property
    def arranged(self) -> list[Entry]:
        """Sections of which all or some meetings have no time yet."""
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
    def mark(self) -> str:
        """A checksum, so that a page gets a timetable only once it differs."""
        shown = [_shown(entry) for entry in (*self.selected, *self.waiting)]
        return f"{crc32(repr((shown, self.breaks, self.recorded)).encode()):08x}"


def timetable(catalog: TermCatalog, student: int) -> Timetable:
    """Return the student's timetable in the catalog's term."""
    found = read_with_fallback.standing(catalog.term.id, student)
    tints = _tints(found, catalog)
    selected = [_entry(held, catalog, tints) for held in found.enrolled]
    waiting = [_entry(place, catalog, tints, place) for place in found.waiting]
    return Timetable(
        catalog.term,
        tuple(sorted(selected, key=_code)),
        tuple(sorted(waiting, key=_code)),
        _breaks(catalog.term.id),
        read_with_fallback.recorded(),
    )


def _breaks(term_id: int) -> tuple[Break, ...]:
    """Return the days off; none while PostgreSQL is away."""
    try:
        return breaks(term_id)
    except AWAY:
        return ()


def _entry(
    held: HeldSeat | WaitlistPosition,
    catalog: TermCatalog,
    tints: dict[int, int],
    place: WaitlistPosition | None = None,
) -> Entry:
    tint = tints[held.section]
    return Entry(held.section, held.credits, catalog.section(held.section), tint, place)


def _code(entry: Entry) -> tuple[str, str]:
    return (entry.card.course_code, entry.card.number) if entry.card else ("", "")


def _tints(found: Standing, catalog: TermCatalog) -> dict[int, int]:
    """Return tints by section, in order of registration: a later course changes no earlier tint."""
    every: Iterable[HeldSeat | WaitlistPosition] = (*found.enrolled, *found.waiting)
    sections = [each.section for each in sorted(every, key=lambda each: each.at)]
    cards = {section: catalog.section(section) for section in sections}
    courses = {section: card.course_id if card else -section for section, card in cards.items()}
    turns = list(dict.fromkeys(courses.values()))
    return {section: turns.index(course) % TINTS + 1 for section, course in courses.items()}


def _shown(entry: Entry) -> tuple[object, ...]:
    """Return what a page shows of an entry."""
    card = entry.card
    known = (card.title, card.status, card.teachers, card.meetings) if card else ()
    return (entry.section, entry.credits, entry.tint, entry.place, *known)


def _timed(entry: Entry) -> Iterator[Meets]:
    for each in entry.meetings:
        if each.mask and each.start is not None and each.end is not None:
            yield Meets(entry, each, each.start, each.end)
