"""What the ledger would refuse of an import's seats, found out before anything is done."""

from functools import cache

from sqlalchemy.orm import Session

from portal.imports.apply import write
from portal.imports.compare import Counts
from portal.imports.report import Note
from portal.imports.seating import moves
from portal.imports.seating.moves import Move
from portal.imports.seating.rooms import Rooms
from portal.imports.seating.rules import judge

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
    """What would be refused, where all but the seats has been written."""
    found: Refused = []
    barred, reserves = set[int](), dict[int, tuple[int, ...]]()
    for move, codes, belongs in judge(session, moves.by_student(session, import_id), past=past):
        if codes:
            barred.add(move.id)
            found.append((move.id, move.note("seat", codes)))
        elif belongs:
            reserves[move.id] = belongs
    if not past:
        found += _full(session, import_id, barred, reserves)
    return sorted(found, key=lambda each: each[0])


def _full(
    session: Session, import_id: int, barred: set[int], reserves: dict[int, tuple[int, ...]]
) -> Refused:
    """Those for whom no seat would be left by their turn."""
    rooms = cache(lambda term: Rooms(session, term))
    return [
        (move.id, move.note("seat", ["full"]))
        for move in moves.by_turn(session, import_id)
        if move.id not in barred and not _seated(rooms(move.term), move, reserves)
    ]


def _seated(rooms: Rooms, move: Move, reserves: dict[int, tuple[int, ...]]) -> bool:
    section, student = move.section or 0, move.student or 0
    if move.removes:
        rooms.leave(section, student)
        return True
    return rooms.take(section, student, reserves.get(move.id, ()))
