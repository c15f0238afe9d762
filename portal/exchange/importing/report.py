"""The report of an import: notes about rows, and the changes, as rows of a table."""

import csv
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import func, insert, select, tuple_
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.core.i18n import in_language, translated
from portal.core.private_files import owner_only
from portal.exchange.importing.findings import FINDINGS, Action
from portal.exchange.importing.models import Import, ImportChange, ImportNote
from portal.exchange.spreadsheets import plain
from portal.registration.reasons import label

MOST = 20_000  # notes that are kept; more are only counted
REFUSED_SEATS = {"seat", "seat_late"}  # kinds whose details are codes of reasons
COLUMNS = ("action", "kind", "file", "line", "key", "column", "value", "why", "todo")


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the report; `key` names the record of its row."""

    kind: str
    file: str
    line: int
    key: str
    column: str
    value: str
    detail: str

    @property
    def action(self) -> Action:
        """Return what the import did with the row."""
        return FINDINGS[self.kind].action

    @property
    def why(self) -> str:
        """Return the reason."""
        detail = _obstacles(self.detail) if self.kind in REFUSED_SEATS else translated(self.detail)
        return f"{FINDINGS[self.kind].why} {detail}".strip()

    @property
    def todo(self) -> str:
        """Return what to do; blank if nothing."""
        return FINDINGS[self.kind].todo


@dataclass
class Report:
    """The notes of an import, in the order of finding."""

    notes: list[Note] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)  # how many of each kind, kept or not

    def add(self, note: Note) -> None:
        """Count a note, and keep it while there is room."""
        self.found[note.kind] += 1
        if len(self.notes) < MOST:
            self.notes.append(note)

    def counts(self) -> list[tuple[Action, str, int]]:
        """Return how many notes there are of each kind, refusals first."""
        return [
            (FINDINGS[kind].action, kind, self.found[kind]) for kind in FINDINGS if self.found[kind]
        ]

    def of(self, kind: str) -> list[Note]:
        """Return the notes of a kind."""
        return [note for note in self.notes if note.kind == kind]

    def write(self, path: Path) -> None:
        """Write every note, as JSON if the name ends in `.json`, else as CSV."""
        path.parent.mkdir(parents=True, exist_ok=True)
        as_json = path.suffix == ".json"
        with open(
            path,
            "w",
            encoding="utf-8" if as_json else "utf-8-sig",
            errors="backslashreplace",
            newline="",
            opener=owner_only,
        ) as out:
            if as_json:
                found = [dict(zip(COLUMNS, cells(note), strict=True)) for note in self.notes]
                out.write(json.dumps(found, indent=1) + "\n")
            else:
                rows = (COLUMNS, *map(cells, self.notes))
                csv.writer(out).writerows(map(plain, row) for row in rows)


def _obstacles(codes: str) -> str:
    """Return the labels of reasons by their codes."""
    return "; ".join(label(code) for code in codes.split()) + "."


def cells(note: Note) -> list[str]:
    """Return a note as cells of the report."""
    found = {column: str(getattr(note, column)) for column in COLUMNS}
    return list((found if note.line else found | {"line": ""}).values())


BATCH = 2000
LATE_KINDS = ("seat_late", "seat_left")  # kinds that are found only when the import is applied


def report_rows(import_id: int, language: str = "") -> Iterator[list[str]]:
    """Yield the header, every note, and every field that changes.

    Texts for people are in that language; names of kinds and columns are for programs.
    """
    yield list(COLUMNS)
    for batch in _notes(import_id):
        with in_language(language):
            rows = [cells(_note(row)) for row in batch]
        yield from rows
    for change in _changes(import_id):
        yield from _rows_of(change)


def first_notes(session: Session, import_id: int, kind: str, most: int) -> list[Note]:
    """Return the first notes of a kind."""
    found = select(ImportNote).where(ImportNote.import_id == import_id, ImportNote.kind == kind)
    ordered = found.order_by(ImportNote.position)
    return [_note(row) for row in session.scalars(ordered.limit(most))]


def notes_since(session: Session, import_id: int, position: int) -> list[Note]:
    """Return all notes from a position on."""
    found = select(ImportNote).where(
        ImportNote.import_id == import_id, ImportNote.position >= position
    )
    return [_note(row) for row in session.scalars(found.order_by(ImportNote.position))]


def store_notes(session: Session, import_id: int, notes: Sequence[Note], *, first: int = 0) -> None:
    """Store notes of an import at positions from `first` on."""
    rows = [
        {"import_id": import_id, "position": position, **asdict(note)}
        for position, note in enumerate(notes, first)
    ]
    for start in range(0, len(rows), BATCH):
        session.execute(insert(ImportNote), rows[start : start + BATCH])


def add_notes(session: Session, import_id: int, notes: Sequence[Note], count: int) -> None:
    """Store more notes of one kind, and add `count` to the number of that kind."""
    if not notes:
        return
    last = session.scalar(
        select(func.max(ImportNote.position)).where(ImportNote.import_id == import_id)
    )
    store_notes(session, import_id, notes, first=0 if last is None else last + 1)
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
    position, at = tuple_(ImportChange.kind, ImportChange.key), ("", "")
    found = select(ImportChange).where(ImportChange.import_id == import_id)
    while batch := _batch(found.where(position > at), position):
        yield from batch
        at = (batch[-1].kind, batch[-1].key)


def _batch(found: Any, order: Any) -> list[Any]:
    with transaction() as session:
        return list(session.scalars(found.order_by(order).limit(BATCH)))


def _rows_of(change: ImportChange) -> Iterator[list[str]]:
    before, after = change.before or {}, change.after or {}
    columns = [change.change, change.kind, "", "", readable_key(change.key)]
    if change.change != "changed":
        yield [*columns, "", "", "", ""]
        return
    for name in changed_fields(before, after):
        yield [*columns, name, f"{before.get(name)} → {after.get(name)}", "", ""]


def changed_fields(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of the fields that differ, sorted."""
    return sorted(name for name in before | after if before.get(name) != after.get(name))


def readable_key(key: str) -> str:
    """Return a key as people read it."""
    return key.replace("\t", " · ")
