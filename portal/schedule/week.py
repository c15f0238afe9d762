"""A week as a grid: which day, from when to when, and side by side where meetings overlap."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

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
