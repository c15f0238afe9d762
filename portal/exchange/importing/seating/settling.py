"""What becomes of the rows of seats that were decided."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy import delete, update

from portal.core.db import transaction
from portal.exchange.importing import book
from portal.exchange.importing.models import ImportRow
from portal.exchange.importing.report import Note
from portal.exchange.importing.reporting import add_notes
from portal.exchange.importing.seating.moves import Move

LATE = "seat_late"
IN, OUT = "already_enrolled", "not_enrolled"  # as it was to become


@dataclass(frozen=True)
class Settled:
    """Rows that are done with, those that go on by themselves, and what there is to say."""

    rows: list[int]
    alone: list[int] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @classmethod
    def of(cls, move: Move, codes: list[str]) -> "Settled":
        """By the codes of what refused it. Of a change the student may have done one half."""
        already = {IN, OUT} & set(codes)
        if move.old and len(already) == 1:
            ids = [move.id, move.old.id]
            done, other = ids if IN in already else reversed(ids)
            return cls([done], [other])
        against = [code for code in codes if code not in already]
        return cls.refused(move, against) if against else cls(move.rows)

    @classmethod
    def refused(cls, move: Move, codes: list[str]) -> "Settled":
        """Nothing comes of it any more."""
        return cls(move.rows, notes=move.refusal(LATE, codes))


def settle(import_id: int, settled: Sequence[Settled]) -> int:
    """Take what is done off the list, and note what there is to say; gives how many rows went."""
    gone = [row for each in settled for row in each.rows]
    alone = [row for each in settled for row in each.alone]
    notes = [note for each in settled for note in each.notes]
    if gone:
        with transaction() as session:
            session.execute(delete(ImportRow).where(ImportRow.id.in_(gone)))
            session.execute(update(ImportRow).where(ImportRow.id.in_(alone)).values(pair=None))
            for kind in dict.fromkeys(note.kind for note in notes):
                some = [note for note in notes if note.kind == kind]
                add_notes(session, import_id, some, len(some))
            book.got_on(session, import_id)
    return len(gone)
