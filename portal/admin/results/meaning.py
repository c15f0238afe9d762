"""What a change by hand will mean, for whom, and what stands in its way."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from portal.admin.results.asked import Asked
from portal.admin.results.words import OBSTACLES, OTHER
from portal.backend import backend
from portal.seats.answers import Reason, Seats, Standing
from portal.seats.by_hand import FIRM
from portal.seats.case import Case, name_of
from portal.seats.reasons import told
from portal.words import _, _n


@dataclass(frozen=True)
class Obstacle:
    """What can be put aside under one code, and what the student would read of it."""

    code: str
    label: str
    texts: list[str]


def obstacles(reasons: Iterable[Reason], case: Case) -> list[Obstacle]:
    """Those of the reasons that can be put aside, by code, in the order given."""
    found: dict[str, list[str]] = {}
    for each in told((each for each in reasons if each.code not in FIRM), case):
        found.setdefault(each.code, []).append(each.text)
    return [Obstacle(code, str(OBSTACLES.get(code, OTHER)), texts) for code, texts in found.items()]


def meaning(asked: Asked, standing: Standing) -> Iterator[str]:
    """Whom it affects, in sentences."""
    ids = [card.id for card in (asked.add, asked.drop) if card]
    counts = backend().ledger.seats_of(asked.offered.term.id, ids)
    if asked.add and (seats := counts.get(asked.add.id)):
        yield from _added(name_of(asked.add), seats)
    if asked.add and asked.add.id in {each.section for each in standing.waiting}:
        yield _("The student’s place on its waitlist goes with the seat.")
    if asked.drop and (seats := counts.get(asked.drop.id)):
        yield from _dropped(name_of(asked.drop), seats)
    yield _("The student is told at once, on the page and by mail, but not the reason.")


def done(asked: Asked) -> str:
    """What has been done."""
    who = asked.who.name if asked.who else ""
    if asked.add and asked.drop:
        names = {"old": name_of(asked.drop), "name": name_of(asked.add)}
        return _("%(who)s was moved from %(old)s to %(name)s.", who=who, **names)
    name = name_of(asked.subject)
    if asked.add:
        return _("%(who)s has a seat in %(name)s.", who=who, name=name)
    return _("%(who)s was taken out of %(name)s.", who=who, name=name)


def _added(name: str, seats: Seats) -> Iterator[str]:
    facts = {"name": name, "taken": seats.taken, "capacity": seats.capacity}
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


def _dropped(name: str, seats: Seats) -> Iterator[str]:
    yield _("The seat in %(name)s is given up.", name=name)
    if seats.over:
        yield _("It is over-enrolled by %(count)s, so nobody gets the seat.", count=seats.over)
    elif seats.waiting:
        yield _("It goes to the first in line who may have it.")
