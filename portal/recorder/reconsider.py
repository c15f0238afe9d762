"""Another chance for students who were passed over, once what is on record has changed."""

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, and_, or_, select
from sqlalchemy.orm import InstrumentedAttribute

from portal.backend import backend
from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.people.models import Hold, Override
from portal.recorder.models import Event, SectionSeats, WaitlistPlace
from portal.recorder.wake import wake

SKEW = timedelta(seconds=5)  # by which the clocks of our machines may differ
Moment = InstrumentedAttribute[datetime]


@dataclass(frozen=True)
class Chance:
    """A place in line that was passed over for what stands in the way no more."""

    term: int
    section: int
    student: int


def reconsider(student: int) -> None:
    """Have those sections asked again in which the student waits and was passed over.

    Where the ledger is away, the clock does it once it is back.
    """
    ledger = backend().ledger
    with suppress(LedgerUnavailable):
        for term in live_terms():
            for place in ledger.standing(term.id, student).waiting:
                if place.reasons:
                    give(Chance(term.id, place.section, student))


def give(chance: Chance) -> None:
    """Have the section ask that student again; nothing happens where that is done already."""
    change = backend().ledger.reconsider(chance.term, chance.section, chance.student)
    wake(chance.term, change.wake)


def chances(now: datetime) -> list[Chance]:
    """Those passed over before a hold of theirs ended, or before they were permitted the section.

    Who is passed over once more, for another reason, is not among them any more.
    """
    place, seats, passed = WaitlistPlace, SectionSeats, Event.occurred_at
    found = (
        select(place.term_id, place.section_id, place.student_id)
        .join(seats, and_(seats.term_id == place.term_id, seats.section_id == place.section_id))
        .join(Event, and_(Event.term_id == place.term_id, Event.seq == place.seq))
        .where(seats.passed > 0, place.state == "passed")
        .where(or_(_hold_ended(passed, now), _permitted(passed)))
    )
    with transaction() as session:
        return [Chance(*row) for row in session.execute(found)]


def _hold_ended(passed: Moment, now: datetime) -> ColumnElement[bool]:
    over = and_(Hold.ends_at > passed - SKEW, Hold.ends_at <= now - SKEW)
    barred = WaitlistPlace.reasons.contains([{"code": "hold"}])
    mine = Hold.student_id == WaitlistPlace.student_id
    return select(Hold.id).where(barred, mine, or_(over, Hold.lifted_at > passed)).exists()


def _permitted(passed: Moment) -> ColumnElement[bool]:
    mine = (
        Override.student_id == WaitlistPlace.student_id,
        Override.section_id == WaitlistPlace.section_id,
        Override.revoked_at.is_(None),
    )
    return select(Override.id).where(*mine, Override.granted_at > passed).exists()
