"""Seats that are kept for cohorts, as each student is to see them."""

from dataclasses import dataclass, replace

from portal.backend import backend
from portal.catalog.term_catalog import SectionView
from portal.catalog.views import ReserveView
from portal.core.i18n import _n
from portal.core.moments import milliseconds
from portal.ledger.types import SeatCounts
from portal.registration import reasons, rules
from portal.student.scene import Scene


@dataclass(frozen=True)
class Kept:
    """What is said of seats that are kept; `mine` where the student is among those they are for."""

    text: str
    mine: bool


def told(now: Scene, card: SectionView) -> list[Kept]:
    """For whom seats of a section are kept, in the order in which they are given."""
    mine = rules.reserves(now.profile, card) if card.reserves else ()
    return [Kept(_text(now, each, each.id in mine), each.id in mine) for each in lasting(now, card)]


def for_me(now: Scene, card: SectionView) -> list[ReserveView]:
    """The section's reserves that keep seats for the student."""
    if not card.reserves:
        return []
    mine = rules.reserves(now.profile, card)
    return [each for each in lasting(now, card) if each.id in mine]


def lasting(now: Scene, card: SectionView) -> list[ReserveView]:
    """The section's reserves that have not fallen open."""
    return [
        each
        for each in card.reserves
        if each.until is None or milliseconds(each.until) > now.phase.now
    ]


def open_to(
    now: Scene, card: SectionView, seats: SeatCounts, *, likely: bool = False
) -> SeatCounts:
    """The counts as they are for the student: seats kept for them are open, ahead of the line.

    Where others have reserves too, the ledger is asked whose seats are left; not if what is
    `likely` is enough.
    """
    mine = for_me(now, card) if seats.keeping else []
    if not mine:
        return seats
    left = seats.keeping
    if len(mine) < len(lasting(now, card)) and not likely:
        held = backend().ledger.reserved(card.term_id, card.id)
        left = min(left, sum(max(0, each.seats - held.get(each.id, 0)) for each in mine))
    return replace(seats, kept=seats.kept - left, passed=seats.waiting) if left else seats


def _text(now: Scene, reserve: ReserveView, mine: bool) -> str:  # noqa: FBT001 - whose it is
    whom = reasons.reserve_in_words(reserve, now.moment)
    if mine:
        return _n(
            "%(num)s seat is kept for you and others: %(whom)s.",
            "%(num)s seats are kept for you and others: %(whom)s.",
            reserve.seats,
            whom=whom,
        )
    return _n(
        "%(num)s seat is kept for %(whom)s.",
        "%(num)s seats are kept for %(whom)s.",
        reserve.seats,
        whom=whom,
    )
