"""What the windows of a term mean to its students: who has none, who has two, and when."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.ledger.types import WindowView
from portal.people.models import Student
from portal.people.years import place
from portal.windows.cohorts import inside


@dataclass(frozen=True)
class Group:
    """Students of one level and year who are in the same windows, by their places in a list."""

    level: str
    year: str
    students: int
    windows: frozenset[int]


@dataclass(frozen=True)
class Stretch:
    """A time (ms) in which as many have a window open, and as many of them more than one."""

    opens: int
    closes: int
    covered: int
    doubled: int


@dataclass(frozen=True)
class Lane:
    """A cohort by level and year, with those who have no window at all."""

    level: str
    year: str
    students: int
    without: int
    stretches: tuple[Stretch, ...]

    def doubled(self, now: int) -> int:
        """How many have two windows open at once, at the time from now on when most have."""
        coming = (stretch.doubled for stretch in self.stretches if stretch.closes > now)
        return max(coming, default=0)

    def gaps(self, now: int) -> list[tuple[int, int]]:
        """Times (ms) from now on between two windows in which nobody of the cohort has one."""
        return [
            (one.closes, next_one.opens)
            for one, next_one in pairwise(self.stretches)
            if one.closes < next_one.opens and next_one.opens > now
        ]


def lanes(session: Session, windows: Sequence[WindowView]) -> list[Lane]:
    """Every cohort by level and year under the windows that were not canceled."""
    live = [window for window in windows if window.state != "canceled"]
    found = sorted(groups(session, live), key=lambda each: (place(each.year), each.level))
    return [
        _lane(level, year, list(some), live)
        for (level, year), some in groupby(found, lambda each: (each.level, each.year))
    ]


def groups(session: Session, windows: Sequence[WindowView]) -> Iterator[Group]:
    """All students, counted by level, year and the windows that they are in."""
    flags = [inside(window.cohort).label(f"w{at}") for at, window in enumerate(windows)]
    each = select(Student.level, Student.year, *flags).where(Student.deleted_at.is_(None))
    inner = each.subquery()
    for level, year, *ins, count in session.execute(
        select(*inner.c, func.count()).group_by(*inner.c)
    ):
        within = frozenset(at for at, is_in in enumerate(ins) if is_in)
        yield Group(level, year, count, within)


def _lane(level: str, year: str, some: list[Group], windows: Sequence[WindowView]) -> Lane:
    return Lane(
        level,
        year,
        students=sum(group.students for group in some),
        without=sum(group.students for group in some if not group.windows),
        stretches=tuple(_joined(_stretches(some, windows))),
    )


def _stretches(some: list[Group], windows: Sequence[WindowView]) -> Iterator[Stretch]:
    """Between every two moments at which a window turns."""
    moments = sorted({moment for each in windows for moment in (each.opens, each.closes)})
    for opens, closes in pairwise(moments):
        running = {at for at, each in enumerate(windows) if each.opens <= opens < each.closes}
        depths = [(len(group.windows & running), group.students) for group in some]
        covered = sum(students for depth, students in depths if depth)
        doubled = sum(students for depth, students in depths if depth > 1)
        if covered:
            yield Stretch(opens, closes, covered, doubled)


def _joined(stretches: Iterator[Stretch]) -> Iterator[Stretch]:
    """Those that follow one another with the same counts, as one."""
    last: Stretch | None = None
    for each in stretches:
        if last and (last.closes, last.covered, last.doubled) == (
            each.opens,
            each.covered,
            each.doubled,
        ):
            last = Stretch(last.opens, each.closes, each.covered, each.doubled)
        else:
            if last:
                yield last
            last = each
    if last:
        yield last
