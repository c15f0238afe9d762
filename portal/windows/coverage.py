"""Whom the windows of a term cover, and what a change to a window would do to its students."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
    """How many students of a level and year are in the same windows (indexes into a list)."""

    level: str
    year: str
    students: int
    windows: frozenset[int]


@dataclass(frozen=True)
class CoveredPeriod:
    """A period (ms) and how many students have one window open in it, and more than one."""

    opens: int
    closes: int
    covered: int
    doubled: int


@dataclass(frozen=True)
class GroupCoverage:
    """The students of a level and year, how many have no window, and when they have one."""

    level: str
    year: str
    students: int
    without: int
    stretches: tuple[CoveredPeriod, ...]

    def doubled(self, now: int) -> int:
        """Return how many have two windows open at once, at the worst time from now on."""
        coming = (period.doubled for period in self.stretches if period.closes > now)
        return max(coming, default=0)

    def gaps(self, now: int) -> list[tuple[int, int]]:
        """Return periods (ms) from now on, between two windows, in which no one has a window."""
        return [
            (one.closes, following.opens)
            for one, following in pairwise(self.stretches)
            if one.closes < following.opens and following.opens > now
        ]


@dataclass(frozen=True)
class Said:
    """What the pages of so many students say, before and after a change."""

    now: str
    then: str
    students: int


@dataclass(frozen=True)
class Effects:
    """What a change does: what pages say, who loses the window, the room, overlaps."""

    said: list[Said]
    without: int
    waiting: int
    inside: int
    doubled: int


def coverage_by_group(session: Session, windows: Sequence[WindowView]) -> list[GroupCoverage]:
    """Return how the windows that are not canceled cover each level and year."""
    live = [window for window in windows if window.state != "canceled"]
    found = sorted(groups(session, live), key=lambda each: (year_order(each.year), each.level))
    return [
        _coverage(level, year, list(some), live)
        for (level, year), some in groupby(found, lambda each: (each.level, each.year))
    ]


def groups(session: Session, windows: Sequence[WindowView]) -> Iterator[GroupCount]:
    """Count all students by level, year and the windows that they are in."""
    flags = [
        in_cohort_clause(window.cohort).label(f"w{index}") for index, window in enumerate(windows)
    ]
    each = select(Student.level, Student.year, *flags).where(Student.deleted_at.is_(None))
    inner = each.subquery()
    for level, year, *member, count in session.execute(
        select(*inner.c, func.count()).group_by(*inner.c)
    ):
        within = frozenset(index for index, is_member in enumerate(member) if is_member)
        yield GroupCount(level, year, count, within)


def effects(session: Session, term: int, window: WindowView, after: WindowView, at: int) -> Effects:
    """Return what happens if the window becomes `after`, `at` the ledger's time (ms)."""
    others = [each for each in backend().ledger.windows(term) if each.id != window.id]
    state = room.state(term, window.id) if backend().settings.room is not None else None
    said, without = _said(session, (window, after), others, at)
    return Effects(
        said=said,
        without=without,
        waiting=state.waiting if state else 0,
        inside=state.inside if state else 0,
        doubled=count_doubled(session, after, others, at),
    )


def count_doubled(
    session: Session, window: WindowView, others: Sequence[WindowView], now: int
) -> int:
    """Return how many students of a window will have another one open at the same time."""
    overlapping = [
        in_cohort_clause(each.cohort)
        for each in others
        if each.id != window.id and _overlap(window, each, now)
    ]
    if not overlapping:
        return 0
    live = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(live.where(in_cohort_clause(window.cohort), or_(*overlapping))) or 0


def _overlap(one: WindowView, other: WindowView, now: int) -> bool:
    """Return whether both are open at some time from now on."""
    begins, ends = max(one.opens, other.opens, now), min(one.closes, other.closes)
    return begins < ends and one.state == other.state == "scheduled"


def _said(
    session: Session, change: tuple[WindowView, WindowView], others: list[WindowView], at: int
) -> tuple[list[Said], int]:
    """Return what the window's students read, most students first, and how many lose the window."""
    counts: Counter[tuple[str, str]] = Counter()
    without = 0
    for group in groups(session, [change[0], *others]):
        if 0 not in group.windows:
            continue
        theirs = [others[index - 1] for index in group.windows - {0}]
        now, then = (phase([each, *theirs], at) for each in change)
        counts[now.sentence, then.sentence] += group.students
        without += group.students if then.kind == "unscheduled" else 0
    return [Said(*sentences, count) for sentences, count in counts.most_common()], without


def _coverage(
    level: str, year: str, some: list[GroupCount], windows: Sequence[WindowView]
) -> GroupCoverage:
    return GroupCoverage(
        level,
        year,
        students=sum(group.students for group in some),
        without=sum(group.students for group in some if not group.windows),
        stretches=tuple(_merged(_periods(some, windows))),
    )


def _periods(some: list[GroupCount], windows: Sequence[WindowView]) -> Iterator[CoveredPeriod]:
    """Yield the period between every two moments at which a window opens or closes."""
    moments = sorted({moment for each in windows for moment in (each.opens, each.closes)})
    for opens, closes in pairwise(moments):
        running = {at for at, each in enumerate(windows) if each.opens <= opens < each.closes}
        depths = [(len(group.windows & running), group.students) for group in some]
        covered = sum(students for depth, students in depths if depth)
        doubled = sum(students for depth, students in depths if depth > 1)
        if covered:
            yield CoveredPeriod(opens, closes, covered, doubled)


def _merged(periods: Iterator[CoveredPeriod]) -> list[CoveredPeriod]:
    """Merge periods that follow one another with the same counts."""
    found: list[CoveredPeriod] = []
    for each in periods:
        last = found[-1] if found else None
        if (
            last
            and replace(each, opens=last.opens, closes=last.closes) == last
            and (last.closes == each.opens)
        ):
            found[-1] = replace(last, closes=each.closes)
        else:
            found.append(each)
    return found
