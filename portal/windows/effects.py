"""What a change to a window would do, before it is made: to whom, and what they see of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.ledger.types import WindowView
from portal.people.models import Student
from portal.waiting_room import room
from portal.windows.cohorts import inside
from portal.windows.coverage import groups
from portal.windows.phases import phase


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
        doubled=doubled(session, after, others, at),
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


def doubled(session: Session, window: WindowView, others: Sequence[WindowView], now: int) -> int:
    """How many students of a window will have another one open at the same time."""
    beside = [
        inside(each.cohort)
        for each in others
        if each.id != window.id and _overlap(window, each, now)
    ]
    if not beside:
        return 0
    live = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(live.where(inside(window.cohort), or_(*beside))) or 0


def _overlap(one: WindowView, other: WindowView, now: int) -> bool:
    """Whether both are open at some time from now on."""
    begins, ends = max(one.opens, other.opens, now), min(one.closes, other.closes)
    return begins < ends and one.state == other.state == "scheduled"
