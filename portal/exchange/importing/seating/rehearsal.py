"""What the ledger would refuse of an import's seats, found out before anything is done."""

from dataclasses import dataclass, field
from functools import cache

from sqlalchemy.orm import Session

from portal.exchange.importing.apply import write
from portal.exchange.importing.compare import Counts
from portal.exchange.importing.report import Note
from portal.exchange.importing.seating import moves
from portal.exchange.importing.seating.moves import Move
from portal.exchange.importing.seating.rooms import Rooms
from portal.exchange.importing.seating.rules import judge

Refused = list[tuple[int, Note]]  # rows of the import, and what is noted of them


def rehearse(session: Session, import_id: int, counts: Counts, *, past: bool) -> Refused:
    """What would be refused if the import were applied now; nothing is changed by asking.

    Students and sections are looked at as the import leaves them, so it is written for that, and
    taken back.
    """
    trial = session.begin_nested()
    try:
        write(session, import_id, counts, lambda *_: None)
        return refused(session, import_id, past=past)
    finally:
        trial.rollback()


def refused(session: Session, import_id: int, *, past: bool) -> Refused:
    """What would be refused, where all but the seats has been written.

    Who is refused a change stays, so that the old seat is nobody else's: it is looked at again
    without what was refused, until nothing more is.
    """
    found = _Rehearsal(session, import_id, past)
    students = found.look(None)
    while students:
        students = found.look(students)
    return sorted(found.notes.items())


@dataclass
class _Rehearsal:
    session: Session
    import_id: int
    past: bool
    notes: dict[int, Note] = field(default_factory=dict)  # of rows that are refused
    reserves: dict[int, tuple[int, ...]] = field(default_factory=dict)  # by rows

    def look(self, students: set[int | None] | None) -> set[int | None]:
        """Who is refused more: by the rules these students alone, by the seats all of them."""
        return self._by_rules(students) | (set() if self.past else self._by_seats())

    def _by_rules(self, students: set[int | None] | None) -> set[int | None]:
        found, left = (
            set(),
            (
                move
                for move in moves.by_student(self.session, self.import_id)
                if move.id not in self.notes and (students is None or move.student in students)
            ),
        )
        for move, codes, belongs in judge(self.session, left, past=self.past):
            if codes:
                self._refuse(move, codes)
                found.add(move.student)
            elif belongs:
                self.reserves[move.id] = belongs
        return found

    def _by_seats(self) -> set[int | None]:
        """Those for whom no seat would be left by their turn."""
        found, rooms = set(), cache(lambda term: Rooms(self.session, term))
        for move in moves.by_turn(self.session, self.import_id):
            if move.id not in self.notes and not self._seated(rooms(move.term), move):
                self._refuse(move, ["full"])
                found.add(move.student)
        return found

    def _seated(self, rooms: Rooms, move: Move) -> bool:
        section, student = move.section or 0, move.student or 0
        if move.removes:
            rooms.leave(section, student)
            return True
        return rooms.take(section, student, self.reserves.get(move.id, ()))

    def _refuse(self, move: Move, codes: list[str]) -> None:
        self.notes |= dict(zip(move.rows, move.refusal("seat", codes), strict=True))
