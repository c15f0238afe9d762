"""What the windows of a term mean to its students: who has none, who has two, and when."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.ledger.types import WindowView
from portal.people.models import Student, year_order
from portal.waiting_room import room
from portal.windows.cohorts import in_cohort_clause
from portal.windows.phases import phase


@dataclass(frozen=True)
class GroupCount:
    """Students of one level and year who are in the same windows, by their places in a list."""

    level: str
    year: str
    students: int
    windows: frozenset[int]


@dataclass(frozen=True)
class CoveredPeriod:
    """A time (ms) in which as many have a window open, and as many of them more than one."""

    opens: int
    closes: int
    covered: int
    doubled: int


@dataclass(frozen=True)
class GroupCoverage:
    """A cohort by level and year, with those who have no window at all."""

    level: str
    year: str
    students: int
    without: int
    stretches: tuple[CoveredPeriod, ...]

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


def coverage_by_group(session: Session, windows: Sequence[WindowView]) -> list[GroupCoverage]:
    """Every cohort by level and year under the windows that were not canceled."""
    live = [window for window in windows if window.state != "canceled"]
    found = sorted(groups(session, live), key=lambda each: (year_order(each.year), each.level))
    return [
        _lane(level, year, list(some), live)
        for (level, year), some in groupby(found, lambda each: (each.level, each.year))
    ]


def groups(session: Session, windows: Sequence[WindowView]) -> Iterator[GroupCount]:
    """All students, counted by level, year and the windows that they are in."""
    flags = [in_cohort_clause(window.cohort).label(f"w{at}") for at, window in enumerate(windows)]
    each = select(Student.level, Student.year, *flags).where(Student.deleted_at.is_(None))
    inner = each.subquery()
    for level, year, *ins, count in session.execute(
        select(*inner.c, func.count()).group_by(*inner.c)
    ):
        within = frozenset(at for at, is_in in enumerate(ins) if is_in)
        yield GroupCount(level, year, count, within)


def _lane(
    level: str, year: str, some: list[GroupCount], windows: Sequence[WindowView]
) -> GroupCoverage:
    return GroupCoverage(
        level,
        year,
        students=sum(group.students for group in some),
        without=sum(group.students for group in some if not group.windows),
        stretches=tuple(_joined(_stretches(some, windows))),
    )


def _stretches(some: list[GroupCount], windows: Sequence[WindowView]) -> Iterator[CoveredPeriod]:
    """Between every two moments at which a window turns."""
    moments = sorted({moment for each in windows for moment in (each.opens, each.closes)})
    for opens, closes in pairwise(moments):
        running = {at for at, each in enumerate(windows) if each.opens <= opens < each.closes}
        depths = [(len(group.windows & running), group.students) for group in some]
        covered = sum(students for depth, students in depths if depth)
        doubled = sum(students for depth, students in depths if depth > 1)
        if covered:
            yield CoveredPeriod(opens, closes, covered, doubled)


def _joined(stretches: Iterator[CoveredPeriod]) -> Iterator[CoveredPeriod]:
    """Those that follow one another with the same counts, as one."""
    last: CoveredPeriod | None = None
    for each in stretches:
        if last and (last.closes, last.covered, last.doubled) == (
            each.opens,
            each.covered,
            each.doubled,
        ):
            last = CoveredPeriod(last.opens, each.closes, each.covered, each.doubled)
        else:
            if last:
                yield last
            last = each
    if last:
        yield last


# What a change to a window would do, before it is made: to whom, and what they see of it.


@dataclass(frozen=True)
class Said:
    """The sentences on the pages of so many students, before and after."""

    now: str
    then: str
    students: int


@dataclass(frozen=True)
class Effects:
    """What pages say; who has no window then, who waits in the room, who has two windows then."""

    said: list[Said]
    without: int
    waiting: int
    inside: int
    doubled: int


def effects(session: Session, term: int, window: WindowView, after: WindowView, at: int) -> Effects:
    """What it does that a window becomes `after`, `at` the ledger's time (ms)."""
    ledger, in_room = backend().ledger, backend().settings.room is not None
    others = [each for each in ledger.windows(term) if each.id != window.id]
    stands = room.state(term, window.id) if in_room else None
    said, without = _said(session, (window, after), others, at)
    return Effects(
        said=said,
        without=without,
        waiting=stands.waiting if stands else 0,
        inside=stands.inside if stands else 0,
        doubled=count_doubled(session, after, others, at),
    )


def _said(
    session: Session, change: tuple[WindowView, WindowView], others: list[WindowView], at: int
) -> tuple[list[Said], int]:
    """What the window's students read, by all the windows that they are in, the most first."""
    told: Counter[tuple[str, str]] = Counter()
    without = 0
    for group in groups(session, [change[0], *others]):
        if 0 not in group.windows:
            continue
        beside = [others[place - 1] for place in group.windows - {0}]
        now, then = (phase([each, *beside], at) for each in change)
        told[now.sentence, then.sentence] += group.students
        without += group.students if then.kind == "unscheduled" else 0
    return [Said(*sentences, count) for sentences, count in told.most_common()], without


def count_doubled(
    session: Session, window: WindowView, others: Sequence[WindowView], now: int
) -> int:
    """How many students of a window will have another one open at the same time."""
    beside = [
        in_cohort_clause(each.cohort)
        for each in others
        if each.id != window.id and _overlap(window, each, now)
    ]
    if not beside:
        return 0
    live = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(live.where(in_cohort_clause(window.cohort), or_(*beside))) or 0


def _overlap(one: WindowView, other: WindowView, now: int) -> bool:
    """Whether both are open at some time from now on."""
    begins, ends = max(one.opens, other.opens, now), min(one.closes, other.closes)
    return begins < ends and one.state == other.state == "scheduled"
