"""A week as a grid: which day, from when to when, and side by side where meetings overlap."""

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
HOUR = 60
WORKDAYS = 5


class Timed(Protocol):
    """What can stand in a grid: a mask of days (Monday 1 … Sunday 64), minutes since midnight."""

    @property
    def mask(self) -> int: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...


Content = TypeVar("Content", bound=Timed)


@dataclass(frozen=True)
class Block(Generic[Content]):
    """A meeting in its place: minutes after the grid's top and of its length, and its lanes."""

    content: Content
    top: int
    length: int
    lane: int  # from 1
    across: int  # lanes that it fills

    @property
    def bottom(self) -> int:
        """Minutes from the grid's top to where it ends."""
        return self.top + self.length


@dataclass(frozen=True)
class Day(Generic[Content]):
    """A column: `weekday` from 0 for Monday, and its blocks by time."""

    weekday: int
    lanes: int
    blocks: tuple[Block[Content], ...]


@dataclass(frozen=True)
class Week(Generic[Content]):
    """Monday to Friday and the days of the weekend that are used, from one full hour to another."""

    days: tuple[Day[Content], ...]
    first_hour: int
    last_hour: int

    @property
    def hours(self) -> int:
        """How many hours it shows; 0 where nothing has a time."""
        return self.last_hour - self.first_hour


def week(meetings: Iterable[Content]) -> Week[Content]:
    """The grid of all meetings, each on every of its days."""
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
    lanes = max((_widest(cluster) for cluster in clusters), default=1)
    blocks = [
        _block(content, lane, _widest(cluster), lanes, top)
        for cluster in clusters
        for content, lane in cluster
    ]
    return Day(weekday, lanes, tuple(blocks))


def _clusters(ordered: Sequence[Content]) -> Iterator[list[Content]]:
    """Meetings that overlap, directly or by way of others."""
    cluster: list[Content] = []
    for each in ordered:
        if cluster and _start(each) >= max(map(_end, cluster)):
            yield cluster
            cluster = []
        cluster.append(each)
    if cluster:
        yield cluster


def _laned(cluster: list[Content]) -> list[tuple[Content, int]]:
    """Each in the first lane that is free by then."""
    ends: list[int] = []
    placed = []
    for each in cluster:
        free = (lane for lane, end in enumerate(ends) if end <= _start(each))
        lane = next(free, len(ends))
        ends[lane : lane + 1] = [_end(each)]
        placed.append((each, lane + 1))
    return placed


def _widest(cluster: list[tuple[Content, int]]) -> int:
    return max(lane for _, lane in cluster)


def _block(content: Content, lane: int, used: int, lanes: int, top: int) -> Block[Content]:
    """The last lane that a cluster uses goes on to the edge of the day."""
    across = lanes - used + 1 if lane == used else 1
    start, end = _start(content), _end(content)
    return Block(content, start - top, end - start, lane, across)


def _start(each: Timed) -> int:
    return each.start // STEP * STEP


def _end(each: Timed) -> int:
    return -(-each.end // STEP) * STEP


# My schedule: what a student holds and waits for, by week, by dates and without a time.

TINTS = 8  # how many courses can be told apart by colour (static/css/schedule.css)


@dataclass(frozen=True)
class Entry:
    """A section that a student holds, or waits for; `card` is None where it is gone."""

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
        """When it meets, exams apart."""
        every = self.card.meetings if self.card else ()
        return tuple(meeting for meeting in every if meeting.clashes)

    @property
    def exams(self) -> tuple[MeetingView, ...]:
        """The blocks in which its exams are, or may be."""
        every = self.card.meetings if self.card else ()
        return tuple(meeting for meeting in every if not meeting.clashes)


@dataclass(frozen=True)
class Meets:
    """One meeting of an entry that has days and a time, as the grid takes it."""

    entry: Entry
    meeting: MeetingView
    start: int
    end: int

    @property
    def mask(self) -> int:
        return self.meeting.mask


@dataclass(frozen=True)
class Timetable:
    """A student's term."""

    term: TermView
    selected: tuple[Entry, ...]
    waiting: tuple[Entry, ...]
    breaks: tuple[Break, ...]
    recorded: bool  # told by the record, as the ledger could not be asked

    @property
    def credits(self) -> int:
        """Hundredths held."""
        return sum(entry.credits for entry in self.selected)

    @cached_property
    def week(self) -> Week[Meets]:
        """What is held and meets at a time, exams apart."""
        return week(each for entry in self.running for each in _timed(entry))

    @property
    def running(self) -> list[Entry]:
        """What is held and has not been canceled."""
        return [entry for entry in self.selected if not entry.canceled]

    @property
    def arranged(self) -> list[Entry]:
        """What has no time yet, or a part that has none."""
        return [entry for entry in self.running if len(list(_timed(entry))) < _parts(entry)]

    @property
    def exams(self) -> list[tuple[Entry, MeetingView]]:
        """Exam blocks of what is held, by date, then time."""
        every = [(entry, meeting) for entry in self.running for meeting in entry.exams]
        return sorted(every, key=lambda each: (each[1].first, each[1].mask, each[1].start or 0))

    @property
    def mark(self) -> str:
        """Tells one schedule from another, so that a page which shows it is not sent it again."""
        shown = [_shown(entry) for entry in (*self.selected, *self.waiting)]
        return f"{crc32(repr((shown, self.breaks, self.recorded)).encode()):08x}"


def timetable(catalog: TermCatalog, student: int) -> Timetable:
    """What the student has in the catalog's term."""
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
    """None are told while nobody can be asked."""
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
    """By section: a course has the tint of its turn, so that what comes later changes no other."""
    every: Iterable[HeldSeat | WaitlistPosition] = (*found.enrolled, *found.waiting)
    sections = [each.section for each in sorted(every, key=lambda each: each.at)]
    cards = {section: catalog.section(section) for section in sections}
    courses = {section: card.course_id if card else -section for section, card in cards.items()}
    turns = list(dict.fromkeys(courses.values()))
    return {section: turns.index(course) % TINTS + 1 for section, course in courses.items()}


def _shown(entry: Entry) -> tuple[object, ...]:
    """What a page shows of an entry."""
    card = entry.card
    known = (card.title, card.status, card.teachers, card.meetings) if card else ()
    return (entry.section, entry.credits, entry.tint, entry.place, *known)


def _timed(entry: Entry) -> Iterator[Meets]:
    for each in entry.meetings:
        if each.mask and each.start is not None and each.end is not None:
            yield Meets(entry, each, each.start, each.end)


def _parts(entry: Entry) -> int:
    """An entry without meetings has one part, whose time is still to be arranged."""
    return len(entry.meetings) or 1
