"""What a change by hand will mean, for whom, and what stands in its way."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from portal.admin.results.asked import Asked
from portal.admin.results.words import OBSTACLES, OTHER
from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.formatting import number
from portal.catalog.term_catalog import SectionView
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.ledger.types import Reason, SeatCounts, Standing
from portal.recorder.models import Enrollment
from portal.registration.next_steps import RefusalContext, section_name
from portal.registration.reasons import NOT_OVERRIDABLE, explain
from portal.registration.seat_counts import reached_waitlists, reserved_left


@dataclass(frozen=True)
class Obstacle:
    """What can be put aside under one code, and what the student would read of it."""

    code: str
    label: str
    texts: list[str]


def obstacles(reasons: Iterable[Reason], case: RefusalContext) -> list[Obstacle]:
    """Those of the reasons that can be put aside, by code, in the order given."""
    found: dict[str, list[str]] = {}
    for each in explain((each for each in reasons if each.code not in NOT_OVERRIDABLE), case):
        found.setdefault(each.code, []).append(each.text)
    return [Obstacle(code, str(OBSTACLES.get(code, OTHER)), texts) for code, texts in found.items()]


def meaning(asked: Asked, standing: Standing) -> Iterator[str]:
    """Whom it affects, in sentences."""
    sharing = asked.offered.sharing(asked.drop) if asked.drop else []
    ids = {card.id for card in (asked.add, asked.drop, *sharing) if card}
    counts = backend().ledger.seats_of(asked.offered.term.id, sorted(ids))
    if asked.add and (seats := counts.get(asked.add.id)):
        yield from _added(section_name(asked.add), seats)
    if asked.add and asked.add.id in {each.section for each in standing.waiting}:
        yield _("The student’s place on its waitlist goes with the seat.")
    if asked.drop and asked.drop.id in counts:
        yield _("The seat in %(name)s is given up.", name=section_name(asked.drop))
        yield from _goes_to(asked, asked.drop, _afterwards(asked, asked.drop, counts))
    yield _("The student is told at once, on the page and by mail, but not the reason.")


def done(asked: Asked) -> str:
    """What has been done."""
    who = asked.who.name if asked.who else ""
    if asked.add and asked.drop:
        names = {"old": section_name(asked.drop), "name": section_name(asked.add)}
        return _("%(who)s was moved from %(old)s to %(name)s.", who=who, **names)
    name = section_name(asked.subject)
    if asked.add:
        return _("%(who)s has a seat in %(name)s.", who=who, name=name)
    return _("%(who)s was taken out of %(name)s.", who=who, name=name)


def _added(name: str, seats: SeatCounts) -> Iterator[str]:
    facts = {"name": name, "taken": number(seats.taken), "capacity": number(seats.capacity)}
    yield _("%(name)s: %(taken)s of %(capacity)s seats are taken now.", **facts)
    if seats.taken >= seats.capacity:
        more = seats.over + 1
        yield _("It would be over-enrolled by %(count)s; nobody loses a seat.", count=more)
    if seats.waiting:
        yield _n(
            "%(num)s student waits for a seat in it, and would see another one come in first.",
            "%(num)s students wait for a seat in it, and would see another one come in first.",
            seats.waiting,
        )


def _afterwards(
    asked: Asked, drop: SectionView, counts: dict[int, SeatCounts]
) -> dict[int, SeatCounts]:
    """The counts of the section that is left, and of those that share seats with it."""
    entered = asked.add.id if asked.add else 0
    pool = {drop.id, *(card.id for card in asked.offered.sharing(drop))}
    stays = entered in pool  # so that as many are taken of the shared seats as before
    found = {}
    for seats in (counts[each] for each in sorted(pool & counts.keys())):
        own = (seats.section == entered) - (seats.section == drop.id)
        reserved_left = (
            _kept(asked, drop) if seats.section == drop.id and drop.reserves else seats.kept
        )
        found[seats.section] = replace(
            seats,
            taken=seats.taken + own,
            kept=reserved_left,
            pool_taken=seats.pool_taken - (not stays),
        )
    return found


def _kept(asked: Asked, drop: SectionView) -> int:
    """Seats that are kept there once this one is given up: it may be one of them."""
    held = Counter(backend().ledger.reserved(drop.term_id, drop.id))
    with transaction() as session:
        seat = session.get(Enrollment, (drop.term_id, drop.id, asked.adjustment().student))
        if seat and seat.reserve and seat.state == "enrolled":
            held[seat.reserve] -= 1
    return reserved_left(drop.reserves, held)


def _goes_to(asked: Asked, drop: SectionView, after: dict[int, SeatCounts]) -> Iterator[str]:
    """To whom the seat goes that is given up, by the counts as they will be."""
    left = after.pop(drop.id)
    lines = reached_waitlists(left, after.values())
    if lines.keys() - {drop.id}:
        names = [section_name(card) for card in asked.offered.some(sorted(lines))]
        yield _(
            "It goes to whoever has waited longest for %(names)s and may have it.",
            names=requisites.any_of(names),
        )
    elif lines and lines[drop.id].open:
        yield _("It goes to the first in line who may have it.")
    elif lines:
        yield _("It is kept: it goes to the first in line for whom it is kept.")
    elif left.taken >= left.capacity:
        more = left.taken + 1 - left.capacity
        yield _("It is over-enrolled by %(count)s, so nobody gets the seat.", count=more)
    elif left.pool_capacity is not None and left.pool_taken >= left.pool_capacity:
        yield _("The seats that it shares with others are all taken, so nobody gets the seat.")
