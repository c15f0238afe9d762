"""What a student holds and waits for, by the ledger, or by the record while it is away."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select

from portal.backend import backend
from portal.db import transaction
from portal.record.models import Enrollment, WaitlistPlace
from portal.seats.answers import Held, Standing, Waiting
from portal.seats.errors import LedgerUnavailable

HELD = ("enrolled",)
WAITING = ("waiting", "passed")


@dataclass(frozen=True)
class Holdings:
    """`recorded` where the ledger could not be asked: the last seconds may be missing then."""

    standing: Standing
    recorded: bool = False


def holdings(term_id: int, student: int) -> Holdings:
    """What the student has in a term now, or had when it was last recorded."""
    try:
        return Holdings(backend().ledger.standing(term_id, student))
    except LedgerUnavailable:
        return Holdings(from_record(term_id, student), recorded=True)


def from_record(term_id: int, student: int) -> Standing:
    """The standing as PostgreSQL remembers it; places on waitlists are 0, for unknown."""
    mine = {"term_id": term_id, "student_id": student}
    seats = select(Enrollment).filter_by(**mine).where(Enrollment.state.in_(HELD))
    places = select(WaitlistPlace).filter_by(**mine).where(WaitlistPlace.state.in_(WAITING))
    with transaction() as session:
        held = [
            Held(row.section_id, row.credits, row.registration, _ms(row.since))
            for row in session.scalars(seats.order_by(Enrollment.section_id))
        ]
        waiting = [
            Waiting(row.section_id, row.credits, row.ticket, _ms(row.since), 0, 0)
            for row in session.scalars(places.order_by(WaitlistPlace.section_id))
        ]
    return Standing(tuple(held), tuple(waiting))


def _ms(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
