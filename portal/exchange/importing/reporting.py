"""The report of an import as rows of a table: what was noted, then what changes."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, insert, select, tuple_
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.core.i18n import in_language
from portal.exchange.importing.compare import shown
from portal.exchange.importing.models import Import, ImportChange, ImportNote
from portal.exchange.importing.report import COLUMNS, Note, cells

BATCH = 2000
LATE = ("seat_late", "seat_left")  # kinds of which nobody knew before it was applied


def report_rows(import_id: int, language: str = "") -> Iterator[list[str]]:
    """The header, every note that was kept, and every field that changes; a batch at a time.

    What is told to people is in that language; names of kinds and columns are for programs.
    """
    yield list(COLUMNS)
    for batch in _notes(import_id):
        with in_language(language):
            told = [cells(_note(row)) for row in batch]
        yield from told
    for change in _changes(import_id):
        yield from _told(change)


def first_notes(session: Session, import_id: int, kind: str, most: int) -> list[Note]:
    """The first notes of a kind."""
    found = select(ImportNote).where(ImportNote.import_id == import_id, ImportNote.kind == kind)
    ordered = found.order_by(ImportNote.position)
    return [_note(row) for row in session.scalars(ordered.limit(most))]


def notes_since(session: Session, import_id: int, position: int) -> list[Note]:
    """All notes from that position on."""
    found = select(ImportNote).where(
        ImportNote.import_id == import_id, ImportNote.position >= position
    )
    return [_note(row) for row in session.scalars(found.order_by(ImportNote.position))]


def keep_notes(session: Session, import_id: int, notes: Sequence[Note], *, first: int = 0) -> None:
    """Keep notes with an import, at their positions from `first` on."""
    rows = [
        {"import_id": import_id, "position": position, **asdict(note)}
        for position, note in enumerate(notes, first)
    ]
    for start in range(0, len(rows), BATCH):
        session.execute(insert(ImportNote), rows[start : start + BATCH])


def add_notes(session: Session, import_id: int, notes: Sequence[Note], count: int) -> None:
    """Keep more notes with an import, which all are of one kind, of which there are `count`."""
    if not notes:
        return
    last = session.scalar(
        select(func.max(ImportNote.position)).where(ImportNote.import_id == import_id)
    )
    keep_notes(session, import_id, notes, first=0 if last is None else last + 1)
    found, kind = session.get_one(Import, import_id), notes[0].kind
    found.notes = found.notes | {kind: found.notes.get(kind, 0) + count}


def _notes(import_id: int) -> Iterator[list[ImportNote]]:
    found = select(ImportNote).where(ImportNote.import_id == import_id)
    after = -1
    while batch := _batch(found.where(ImportNote.position > after), ImportNote.position):
        yield batch
        after = batch[-1].position


def _note(row: ImportNote) -> Note:
    return Note(row.kind, row.file, row.line, row.key, row.column, row.value, row.detail)


def _changes(import_id: int) -> Iterator[ImportChange]:
    place, at = tuple_(ImportChange.kind, ImportChange.key), ("", "")
    found = select(ImportChange).where(ImportChange.import_id == import_id)
    while batch := _batch(found.where(place > at), place):
        yield from batch
        at = (batch[-1].kind, batch[-1].key)


def _batch(found: Any, order: Any) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(found.order_by(order).limit(BATCH)))


def _told(change: ImportChange) -> Iterator[list[str]]:
    before, after = change.before or {}, change.after or {}
    place = [change.change, change.kind, "", "", shown(change.key)]
    if change.change != "changed":
        yield [*place, "", "", "", ""]
        return
    for name in changed_fields(before, after):
        yield [*place, name, f"{before.get(name)} → {after.get(name)}", "", ""]


def changed_fields(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """The names of the fields that differ, sorted."""
    return sorted(name for name in before | after if before.get(name) != after.get(name))
