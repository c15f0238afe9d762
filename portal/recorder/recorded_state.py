"""The recorded seats, waitlist positions, windows and drops, in the ledger's form."""

from collections import Counter
from collections.abc import Iterable

from sqlalchemy import func, select, tuple_
from sqlalchemy.orm import Session, aliased

from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.ledger import replies
from portal.ledger.types import HeldSeat, Registrations, SeatCounts, WaitlistPosition, WindowView
from portal.recorder.models import (
    WAITLIST_ORDER,
    Enrollment,
    LoggedEvent,
    SectionSeats,
    WaitlistEntry,
)
from portal.windows.models import Window

WAITING = ("waiting", "passed")


def seats(term: int, sections: Iterable[int] | None = None) -> dict[int, SeatCounts]:
    """Return the counts of some sections of a term, or of all."""
    found = select(SectionSeats).where(SectionSeats.term_id == term)
    if sections is not None:
        found = found.where(SectionSeats.section_id.in_(sections))
    with transaction() as session:
        used = _used(session, term)
        return {row.section_id: _seats(row, used) for row in session.scalars(found)}


def reserved(term: int, section: int) -> dict[int, int]:
    """Return the seats of a section that were held under its reserves, by reserve."""
    with transaction() as session:
        row = session.get(SectionSeats, (term, section))
        return {int(reserve): held for reserve, held in row.reserved.items()} if row else {}


def registrations(term: int, student: int) -> Registrations:
    """Return the student's seats and waitlist positions."""
    with transaction() as session:
        return Registrations(
            tuple(_held(session, term, student)), tuple(_waiting(session, term, student))
        )


def drops(term: int, student: int) -> dict[str, int]:
    """Return how many seats a student had dropped, by day."""
    day = LoggedEvent.payload["day"].astext
    mine = (
        LoggedEvent.term_id == term,
        LoggedEvent.student_id == student,
        LoggedEvent.name == "dropped",
    )
    with transaction() as session:
        return Counter(session.scalars(select(day).where(*mine, day.is_not(None))))


def windows(term: int) -> list[WindowView]:
    """Return every window of a term, by opening."""
    found = select(Window).where(Window.term_id == term).order_by(Window.opens_at, Window.id)
    with transaction() as session:
        return [_window(row) for row in session.scalars(found)]


def _used(session: Session, term: int) -> dict[int, int]:
    """Return how many seats were taken in each pool."""
    taken = func.sum(SectionSeats.prior + SectionSeats.enrolled)
    pooled = SectionSeats.term_id == term, SectionSeats.pool_id.is_not(None)
    found = select(SectionSeats.pool_id, taken).where(*pooled).group_by(SectionSeats.pool_id)
    return {pool: number for pool, number in session.execute(found) if pool}


def _seats(row: SectionSeats, used: dict[int, int]) -> SeatCounts:
    return SeatCounts(
        section=row.section_id,
        capacity=row.capacity,
        taken=row.prior + row.enrolled,
        waiting=row.waiting,
        waitlist_capacity=row.waitlist_capacity,
        status=row.status,
        seq=row.seq,
        skipped=row.passed,
        kept=row.kept,
        pool_capacity=row.pool_capacity,
        pool_taken=used.get(row.pool_id or 0, 0),
    )


def _held(session: Session, term: int, student: int) -> Iterable[HeldSeat]:
    found = select(Enrollment).filter_by(term_id=term, student_id=student, state="enrolled")
    for row in session.scalars(found.order_by(Enrollment.section_id)):
        yield HeldSeat(row.section_id, row.credits, row.registration, milliseconds(row.since))


def _waiting(session: Session, term: int, student: int) -> Iterable[WaitlistPosition]:
    line = aliased(WaitlistEntry)
    there = line.section_id == WaitlistEntry.section_id, line.state.in_(WAITING)
    size = select(func.count()).where(line.term_id == term, *there)
    position = size.where(tuple_(line.band, line.ticket) <= tuple_(*WAITLIST_ORDER))
    mine = WaitlistEntry.term_id == term, WaitlistEntry.student_id == student
    found = (
        select(WaitlistEntry, position.scalar_subquery(), size.scalar_subquery())
        .where(*mine, WaitlistEntry.state.in_(WAITING))
        .order_by(WaitlistEntry.section_id)
    )
    for row, at, of in session.execute(found):
        since, skipped = milliseconds(row.since), row.state == "passed"
        reasons = replies.reasons(row.reasons) if skipped else ()
        yield WaitlistPosition(
            *(row.section_id, row.credits, row.ticket, since, at, of),
            *(reasons, row.instead or 0, row.band),
        )


def _window(row: Window) -> WindowView:
    opens, closes = milliseconds(row.opens_at), milliseconds(row.closes_at)
    return WindowView(row.id, row.name, opens, closes, row.state, row.cohort)
