"""The seats of an import, given and taken by the ledger, a few at a time, each of them once."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from itertools import groupby

from sqlalchemy import delete, func, select

from portal.catalog.board import expire
from portal.db import transaction
from portal.imports import book
from portal.imports.models import Import, ImportRow
from portal.imports.options import Options
from portal.imports.report import Note
from portal.imports.reporting import add_notes
from portal.imports.seating import moves
from portal.imports.seating.moves import NO_MATTER, PAST, Move
from portal.imports.tables import Progress
from portal.people.models import AuditEntry
from portal.people.profile import Profile, read_all
from portal.record.fact import IMPORT
from portal.seats import by_hand
from portal.seats.answers import Outcome
from portal.seats.by_hand import Adjustment, Many
from portal.seats.errors import KeyReused

BATCH = 100  # a round trip: so long do the claims of others wait, about 10 ms
SO_ALREADY = {"already_enrolled", "not_enrolled"}  # as it was to become
LATE = "seat_late"


def seat(import_id: int, progress: Progress) -> None:
    """Do what is left of an import's seats; what the ledger refuses now is noted row by row.

    What has been done is not left any more. Of a batch that was asked for and not noted, the
    ledger says again what it has decided. Raises LedgerUnavailable.
    """
    with transaction() as session:
        found = session.get_one(Import, import_id)
        left = select(func.count()).where(ImportRow.import_id == import_id)
        done, total = 0, session.scalar(left) or 0
    for removes in (True, False):
        after = 0
        while batch := _next(import_id, after, removes=removes):
            after = batch[-1].id
            _note(import_id, batch, list(_refused(found, batch)))
            done += len(batch)
            progress("seating", done, total)
    _finish(import_id)


def _next(import_id: int, after: int, *, removes: bool) -> list[Move]:
    with transaction() as session:
        return moves.following(session, import_id, after, BATCH, removes=removes)


def _refused(found: Import, batch: list[Move]) -> Iterator[Note]:
    """Have a batch decided, and tell what was refused."""
    with transaction() as session:
        people = read_all(session, {move.student for move in batch if move.student})
    for term, of_term in groupby(sorted(batch, key=_term), key=_term):
        expire(term)  # what the import has just changed must be seen
        known = [move for move in of_term if move.section and move.student in people]
        changes = {f"import-{found.id}-{move.id}": _change(move) for move in known}
        answers = _decided(_many(found, term, changes), people)
        for move, codes in zip(known, answers, strict=True):
            if codes:
                yield move.note(LATE, codes)
    for move in batch:
        if not (move.section and move.student in people):
            yield move.note(LATE, ["student_unknown" if move.section else "section_unknown"])


def _term(move: Move) -> int:
    return move.term or 0


def _change(move: Move) -> Adjustment:
    term, student = move.term or 0, move.student or 0
    if move.removes:
        return Adjustment(term, student, drop=move.section)
    worth = None if move.credits is None else Decimal(move.credits) / 100
    return Adjustment(term, student, add=move.section, credits=worth)


def _many(found: Import, term: int, changes: dict[str, Adjustment]) -> Many:
    past = Options.read(found.options).past
    return Many(
        term,
        changes,
        overrides=tuple(sorted(PAST if past else NO_MATTER)),
        why=f"Import {found.id}: {found.name}",
        by=found.account_id,
        correlation=f"{IMPORT}{found.id}",
    )


def _decided(many: Many, people: Mapping[int, Profile]) -> list[list[str]]:
    """The codes of what refused each change; none where it is as it was to be."""
    try:
        answers = by_hand.adjust_all(many, people)
    except KeyReused:  # decided before it was interrupted, of a section that has been edited since
        if len(many.changes) == 1:
            return [[]]
        each = (replace(many, changes=dict([one])) for one in many.changes.items())
        return [codes for one in each for codes in _decided(one, people)]
    return [
        [reason.code for reason in answer.reasons if reason.code not in SO_ALREADY]
        if answer.outcome == Outcome.REFUSED
        else []
        for answer in answers
    ]


def _note(import_id: int, batch: list[Move], notes: list[Note]) -> None:
    """Take what is done off the list, with what there is to say of it."""
    with transaction() as session:
        session.execute(delete(ImportRow).where(ImportRow.id.in_([move.id for move in batch])))
        add_notes(session, import_id, notes, len(notes))


def _finish(import_id: int) -> None:
    with transaction() as session:
        if not book.move(session, import_id, "done", of=("seating",), error=""):
            return
        found = session.get_one(Import, import_id)
        moved = {each: found.counts["enrollment"][each] for each in ("added", "removed")}
        session.add(
            AuditEntry(
                account_id=found.account_id,
                action="import.seat",
                subject=f"import:{import_id}",
                after=moved | {"refused": found.notes.get(LATE, 0)},
                reason="" if found.account_id else "command line",
            )
        )
        book.clear(session, import_id, book.SENT)
