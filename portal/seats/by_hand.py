"""Changing a student's selections by hand: what stands in the way is named, to be put aside."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.ledger.types import AdminAdjustment, Decision, Reason
from portal.people.student_profile import StudentProfile, profile
from portal.recorder.wake import wake
from portal.seats import desk, wishes
from portal.seats.wishes import Wanted, hundredths

# What can't be put aside, as there would be no sense in it.
FIRM = frozenset(
    {
        "already_enrolled",
        "not_enrolled",
        "student_unknown",
        "section_unknown",
        "section_new",
        "section_canceled",
    }
)

SHUT = ("window_unscheduled", "window_before", "window_ended")  # that no window is open


@dataclass(frozen=True)
class Adjustment:
    """A student is put into a section (`add`), taken out of one (`drop`), or moved (both).

    `overrides` are codes of the reasons that are put aside: the ledger decides the others.
    `credits` matter for ranges alone, None is the least of them.
    """

    term: int
    student: int
    add: int | None = None
    drop: int | None = None
    credits: Decimal | None = None
    overrides: tuple[str, ...] = ()


def preview(change: Adjustment) -> tuple[Reason, ...]:
    """Everything that stands in the way as things are; what `overrides` names is in it too.

    Raises LookupError where there is no such student.
    """
    return backend().ledger.preview(change.term, _asked(change, profile(change.student)))


def adjust(
    change: Adjustment, *, why: str, by: int, request: str | None, correlation: str
) -> Decision:
    """Let the ledger decide it in one step, for the account `by`; the record notes who and why.

    ENROLLED (a move too) or DROPPED, or REFUSED with every reason that was not put aside.
    Raises KeyReused, and LookupError where there is no such student.
    """
    if not why.strip():
        raise ValueError("A change by hand needs a reason.")
    answer = backend().ledger.adjust(
        change.term,
        _asked(change, profile(change.student)),
        overrides=change.overrides,
        reason=why.strip(),
        request=request,
        actor=f"account:{by}",
        correlation=correlation,
    )
    wake(change.term, answer.wake)
    return answer


@dataclass(frozen=True)
class Many:
    """Changes of one term by their request keys, for the same reason and past the same rules."""

    term: int
    changes: Mapping[str, Adjustment]
    overrides: tuple[str, ...]
    why: str
    by: int | None  # the account; None = nobody at a page
    correlation: str

    @property
    def actor(self) -> str:
        """As events name who acted."""
        return "system" if self.by is None else f"account:{self.by}"


def adjust_batch(many: Many, people: Mapping[int, StudentProfile]) -> list[Decision]:
    """Let the ledger decide many changes in one step; answers in their order.

    Every drop counts before any addition. Their students are `people`. Raises KeyReused.
    """
    asked = {key: _asked(each, people[each.student]) for key, each in many.changes.items()}
    answers = backend().ledger.adjust_batch(
        many.term,
        asked,
        overrides=many.overrides,
        reason=many.why,
        actor=many.actor,
        correlation=many.correlation,
    )
    wake(many.term, sorted({worker for answer in answers for worker in answer.wake}))
    return answers


def firm(reasons: Iterable[Reason]) -> list[Reason]:
    """Those of the reasons that nobody can put aside."""
    return [reason for reason in reasons if reason.code in FIRM]


def _asked(change: Adjustment, who: StudentProfile) -> AdminAdjustment:
    """The change with all that the ledger must be told."""
    if change.add is None and change.drop is None:
        raise ValueError("A change by hand needs a section.")
    offered, zone = catalog_of(change.term), backend().settings.zone
    add = None
    if change.add is not None:
        add = wishes.part(Wanted(change.add, change.credits), who, offered)
    return AdminAdjustment(
        student=change.student,
        add=add,
        drop=change.drop,
        limit=hundredths(desk.limit(who, offered)),
        windows=tuple(window.id for window in desk.windows_of(who, change.term)),
        days=tuple(desk.days(datetime.now(zone), zone)),
        drop_limit=offered.term.drops_per_day,
        asked=0 if change.credits is None else hundredths(change.credits),
    )
