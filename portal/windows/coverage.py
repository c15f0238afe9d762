"""The students whom a term's windows cover, and the effects of a change to a window."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.ledger.types import WindowView
from portal.people.models import Student, year_order
from portal.windows.cohorts import in_cohort_clause
from portal.windows.phases import phase


@dataclass(frozen=True)
class GroupCount:
    """The number of students of a level and year in the same windows (indexes into a list)."""

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
class PageText:
    """What pages show to so many students before and after a change."""

    now: str
    then: str
    students: int


@dataclass(frozen=True)
class Effects:
    """Effects of a change: messages, students who lose the window, students who get two."""

    texts: list[PageText]
    without: int
    doubled: int


def coverage_by_group(session: Session, windows: Sequence[WindowView]) -> list[GroupCoverage]:
    """Return how the windows that are not canceled cover each level and year."""
    live = [window for window in windows if window.state != "canceled"]
    found = sorted(groups(session, live), key=lambda each: (year_order(each.year), each.level))
    coverages = []
    for (level, year), group in groupby(found, lambda each: (each.level, each.year)):
        counts = list(group)
        coverages.append(
            GroupCoverage(
                level,
                year,
                students=sum(each.students for each in counts),
                without=sum(each.students for each in counts if not each.windows),
                stretches=tuple(_periods(counts, live)),
            )
        )
    return coverages


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
    counts: Counter[tuple[str, str]] = Counter()
    without = 0
    for group in groups(session, [window, *others]):
        if 0 not in group.windows:
            continue
        theirs = [others[index - 1] for index in group.windows - {0}]
        now, then = (phase([each, *theirs], at) for each in (window, after))
        counts[now.sentence, then.sentence] += group.students
        without += group.students if then.kind == "unscheduled" else 0
    texts = [PageText(*sentences, count) for sentences, count in counts.most_common()]
    return Effects(texts, without, count_doubled(session, after, others, at))


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
    """Return whether two windows are both open at some time from now on."""
    begins, ends = max(one.opens, other.opens, now), min(one.closes, other.closes)
    return begins < ends and one.state == other.state == "scheduled"


def _periods(some: list[GroupCount], windows: Sequence[WindowView]) -> list[CoveredPeriod]:
    """Return the periods in which anyone has a window, each with one set of counts."""
    found: list[CoveredPeriod] = []
    moments = sorted({moment for each in windows for moment in (each.opens, each.closes)})
    for opens, closes in pairwise(moments):
        running = {at for at, each in enumerate(windows) if each.opens <= opens < each.closes}
        depths = [(len(group.windows & running), group.students) for group in some]
        covered = sum(students for depth, students in depths if depth)
        doubled = sum(students for depth, students in depths if depth > 1)
        last = found[-1] if found else None
        if last and (last.closes, last.covered, last.doubled) == (opens, covered, doubled):
            found[-1] = replace(last, closes=closes)
        elif covered:
            found.append(CoveredPeriod(opens, closes, covered, doubled))
    return found
