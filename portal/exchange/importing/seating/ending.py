"""An import that is ended before all of its seats are given: those that are left are named."""

from itertools import islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.core.i18n import translated
from portal.exchange.importing import book
from portal.exchange.importing.models import Import, ImportRow
from portal.exchange.importing.report import MOST
from portal.exchange.importing.reporting import add_notes
from portal.exchange.importing.seating import moves
from portal.people.models import AuditEntry

LEFT = "seat_left"


def left(session: Session, import_id: int) -> int:
    """How many seats are neither given, taken nor refused yet."""
    counted = select(func.count()).where(ImportRow.import_id == import_id)
    return session.scalar(counted) or 0


def end(session: Session, import_id: int, by: int, why: str) -> bool:
    """Let the account `by` do without them; False while a worker is at it, and once it is done."""
    error = session.get_one(Import, import_id).error
    if not book.lock(session):
        return False
    if not book.move(session, import_id, "done", of=("seating",), error=""):
        return False
    count, some = left(session, import_id), islice(moves.by_turn(session, import_id), MOST)
    add_notes(session, import_id, [move.note(LEFT, []) for move in some], count)
    session.add(
        AuditEntry(
            account_id=by,
            action="import.end",
            subject=f"import:{import_id}",
            before={"error": translated(error)},
            after={"left": count},
            reason=why,
        )
    )
    book.clear(session, import_id, book.SENT)
    return True
