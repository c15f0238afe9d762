"""An admin adjustment in sentences: what prevents it, what it means, and what it did."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import number
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.catalog.time_conflicts import pair_in_words, pairs
from portal.core.db import transaction
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import NOT_OVERRIDABLE, Reason, Registrations, SeatCounts
from portal.people.student_profile import StudentProfile
from portal.recorder.models import Enrollment
from portal.registration.next_steps import RefusalContext, section_name
from portal.registration.reasons import OBSTACLES, explain
from portal.registration.seat_counts import reached_waitlists, reserved_left

OTHER_OBSTACLE = _l("A rule prevents this")


@dataclass(frozen=True)
class Target:
    """The student to adjust, and the sections to add and drop: one of them, or both to move."""

    catalog: TermCatalog
    student: StudentProfile
    add: SectionView | None
    drop: SectionView | None


def obstacles_in_words(
    reasons: Sequence[Reason], context: RefusalContext
) -> list[tuple[str, str, list[str]]]:
    """Return the codes that can be overridden, each with its label and texts for students."""
    found: dict[str, list[str]] = {}
    overridable = (each for each in reasons if each.code not in NOT_OVERRIDABLE)
    for each in explain(overridable, context):
        found.setdefault(each.code, []).append(each.text)
    return [
        (code, str(OBSTACLES.get(code, OTHER_OBSTACLE)), texts) for code, texts in found.items()
    ]


def effects(target: Target, registrations: Registrations) -> Iterator[str]:
    """Yield sentences about the consequences for students."""
    add, drop = target.add, target.drop
    pool = target.catalog.sharing(drop) if drop else []
    ids = {section.id for section in (add, drop, *pool) if section}
    counts = backend().ledger.seats_of(target.catalog.term.id, sorted(ids))
    if add and (seats := counts.get(add.id)):
        facts = {"taken": number(seats.taken), "capacity": number(seats.capacity)}
        name = section_name(add)
        yield _("%(name)s: %(taken)s of %(capacity)s seats are taken.", name=name, **facts)
        if seats.taken >= seats.capacity:
            more = seats.over + 1
            yield _("It would be over capacity by %(count)s. No one loses a seat.", count=more)
        if seats.waiting:
            yield _n(
                "This student would get a seat ahead of %(num)s student on the waitlist.",
                "This student would get a seat ahead of %(num)s students on the waitlist.",
                seats.waiting,
            )
    if add and add.id in {each.section for each in registrations.waiting}:
        yield _("The student gets the seat and leaves the waitlist.")
    if drop and drop.id in counts:
        yield _("The student is dropped from %(name)s.", name=section_name(drop))
        yield from _freed_seat(target, drop, _counts_after(target, drop, counts))
    yield _(
        "The student is notified at once, on the page and by email. Your reason is not"
        " shown to the student."
    )


def _counts_after(
    target: Target, drop: SectionView, counts: Mapping[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """Return the seat counts, after the drop, of the section left and of its seat pool."""
    entered = target.add.id if target.add else 0
    pool = {drop.id, *(section.id for section in target.catalog.sharing(drop))}
    freed = entered not in pool  # otherwise as many shared seats are taken as before
    after = {
        seats.section: replace(
            seats,
            taken=seats.taken + (seats.section == entered) - (seats.section == drop.id),
            pool_taken=seats.pool_taken - freed,
        )
        for seats in (counts[section] for section in sorted(pool & counts.keys()))
    }
    if drop.reserves:
        after[drop.id] = replace(after[drop.id], kept=_reserved_after(target, drop))
    return after


def _reserved_after(target: Target, drop: SectionView) -> int:
    """Return the reserved seats left after the drop, which may free one of them."""
    held = Counter(backend().ledger.reserved(drop.term_id, drop.id))
    with transaction() as session:
        seat = session.get(Enrollment, (drop.term_id, drop.id, target.student.student))
        if seat and seat.reserve and seat.state == "enrolled":
            held[seat.reserve] -= 1
    return reserved_left(drop.reserves, held)


def _freed_seat(target: Target, drop: SectionView, after: dict[int, SeatCounts]) -> Iterator[str]:
    """Yield who gets the dropped seat, by the counts after the drop."""
    left = after.pop(drop.id)
    waitlists = reached_waitlists(left, after.values())
    if waitlists.keys() - {drop.id}:
        names = [section_name(each) for each in target.catalog.some(sorted(waitlists))]
        yield _(
            "The seat goes to the first eligible student on the waitlists of %(names)s.",
            names=requisites.any_of(names),
        )
    elif waitlists and waitlists[drop.id].open:
        yield _("The seat goes to the first eligible student on the waitlist.")
    elif waitlists:
        yield _(
            "The seat is reserved. It goes to the first student on the waitlist who may take it."
        )
    elif left.taken >= left.capacity:
        more = left.taken + 1 - left.capacity
        yield _(
            "The section is over capacity by %(count)s, so the seat is not assigned.", count=more
        )
    elif left.pool_capacity is not None and left.pool_taken >= left.pool_capacity:
        yield _("All shared seats are taken, so the seat is not assigned.")


def new_conflicts(target: Target) -> list[str]:
    """Return the time conflicts that the adjustment has made."""
    if not target.add:
        return []
    try:
        registrations = backend().ledger.registrations(
            target.catalog.term.id, target.student.student
        )
    except LedgerUnavailable:  # the student's page shows them as well
        return []
    return conflicts(target.catalog, registrations, target.add.id)


def conflicts(
    catalog: TermCatalog, registrations: Registrations, section: int | None = None
) -> list[str]:
    """Return the time conflicts of a student's sections, or those of one of them."""
    held = catalog.some(each.section for each in registrations.enrolled)
    running = [each for each in held if each.status != "CANCELED"]
    return [
        pair_in_words(one, other)
        for one, other in pairs(running)
        if section is None or section in {one.id, other.id}
    ]


def outcome(target: Target) -> str:
    """Return the message about the adjustment that was made."""
    who, add, drop = target.student.name, target.add, target.drop
    if add and drop:
        names = {"old": section_name(drop), "name": section_name(add)}
        return _("%(who)s was moved from %(old)s to %(name)s.", who=who, **names)
    if add:
        return _("%(who)s was enrolled in %(name)s.", who=who, name=section_name(add))
    left = section_name(drop) if drop else ""
    return _("%(who)s was dropped from %(name)s.", who=who, name=left)
