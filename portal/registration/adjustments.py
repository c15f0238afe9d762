"""Admin adjustments: a registrar adds, drops or moves a student, overriding named reasons."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core.queue import enqueue
from portal.ledger.types import NOT_OVERRIDABLE, AdminAdjustment, Decision, Reason
from portal.people.student_profile import StudentProfile, profile
from portal.registration import requests
from portal.registration.credits import hundredths
from portal.registration.limits import credit_limit, days_around, windows_of
from portal.registration.requests import SectionRequest


@dataclass(frozen=True)
class Adjustment:
    """A student is added to a section (`add`), dropped from one (`drop`), or moved (both).

    `overrides` are codes of reasons that no longer refuse. `credits` only matter for a section with
    a credit range; None is its minimum. `application` is the id of the approved application that
    causes it, `mark` what the student's record then shows for the section.
    """

    term: int
    student: int
    add: int | None = None
    drop: int | None = None
    credits: Decimal | None = None
    overrides: tuple[str, ...] = ()
    application: int | None = None
    mark: str | None = None


@dataclass(frozen=True)
class Batch:
    """Adjustments of one term by idempotency key, with one reason and the same overrides."""

    term: int
    changes: Mapping[str, Adjustment]
    overrides: tuple[str, ...]
    why: str
    by: int | None  # the account; None outside a web page
    correlation: str

    @property
    def actor(self) -> str:
        """Return the actor's name in events."""
        return "system" if self.by is None else f"account:{self.by}"


def preview(change: Adjustment) -> tuple[Reason, ...]:
    """Return every reason against the change now, including those in `overrides`.

    Raises LookupError if there is no such student.
    """
    return backend().ledger.preview(change.term, _for_ledger(change, profile(change.student)))


def adjust(
    change: Adjustment, *, why: str, by: int, idempotency_key: str | None, correlation: str
) -> Decision:
    """Decide a change in one step for the account `by`; the event log keeps who and why.

    ENROLLED (also after a move), DROPPED, or REFUSED with every reason that was not overridden.
    Raises KeyReused, and LookupError if there is no such student.
    """
    if not why.strip():
        raise ValueError("An adjustment needs a reason.")
    decided = backend().ledger.adjust(
        change.term,
        _for_ledger(change, profile(change.student)),
        overrides=change.overrides,
        reason=why.strip(),
        idempotency_key=idempotency_key,
        actor=f"account:{by}",
        correlation=correlation,
    )
    enqueue(change.term, decided.wake)
    return decided


def adjust_batch(batch: Batch, people: Mapping[int, StudentProfile]) -> list[Decision]:
    """Decide many changes in one step, in the order of the batch; drops count before additions.

    `people` are its students by id. Raises KeyReused.
    """
    changes = {key: _for_ledger(each, people[each.student]) for key, each in batch.changes.items()}
    decided = backend().ledger.adjust_batch(
        batch.term,
        changes,
        overrides=batch.overrides,
        reason=batch.why,
        actor=batch.actor,
        correlation=batch.correlation,
    )
    enqueue(batch.term, sorted({worker for each in decided for worker in each.wake}))
    return decided


def not_overridable(reasons: Iterable[Reason]) -> list[Reason]:
    """Return those of the reasons that an admin can't override."""
    return [reason for reason in reasons if reason.code in NOT_OVERRIDABLE]


def _for_ledger(change: Adjustment, student: StudentProfile) -> AdminAdjustment:
    """Return the change with everything the ledger needs to decide it."""
    if change.add is None and change.drop is None:
        raise ValueError("An adjustment needs a section.")
    catalog, zone = catalog_of(change.term), backend().settings.zone
    chosen = None if change.credits is None else hundredths(change.credits)
    add = None
    if change.add is not None:
        add = requests.claim(SectionRequest(change.add, chosen), student, catalog)
    return AdminAdjustment(
        student=change.student,
        add=add,
        drop=change.drop,
        credit_limit=hundredths(credit_limit(student, catalog)),
        windows=tuple(window.id for window in windows_of(student, change.term)),
        days=tuple(days_around(datetime.now(zone), zone)),
        drop_limit=catalog.term.drops_per_day,
        chosen_credits=chosen or 0,
        application=change.application,
        mark=change.mark,
    )
