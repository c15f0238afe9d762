"""The report of an import: notes about rows, and the changes, as rows of a table."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Select, func, insert, select, tuple_
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.core.i18n import in_language, stored_message, translated
from portal.core.private_files import owner_only
from portal.exchange.importing.findings import FINDINGS, Action
from portal.exchange.importing.models import Import, ImportChange, ImportNote
from portal.exchange.importing.values import whole_text
from portal.exchange.spreadsheets import csv_pieces
from portal.registration.reasons import label

MOST = 20_000  # notes that are kept; more are only counted
SEAT, LATE, LEFT = "seat", "seat_late", "seat_left"  # kinds of refused enrollments
REFUSED_SEATS = {SEAT, LATE}  # kinds whose details are codes of reasons
LATE_KINDS = (LATE, LEFT)  # kinds that are found only when the import is applied
COLUMNS = ("action", "kind", "file", "line", "key", "column", "value", "why", "todo")


@dataclass(frozen=True, slots=True)
class Note:
    """A line of the report; `key` names the record of its row."""

    kind: str
    file: str = ""
    line: int = 0
    key: str = ""
    column: str = ""
    value: str = ""
    detail: str = ""

    @property
    def action(self) -> Action:
        """Return what the import did with the row."""
        return FINDINGS[self.kind].action

    @property
    def why(self) -> str:
        return f"{FINDINGS[self.kind].why} {self.more}".strip()

    @property
    def more(self) -> str:
        """Return what the reason of its kind does not say yet; blank if nothing."""
        if self.kind in REFUSED_SEATS:
            return "; ".join(label(code) for code in self.detail.split()) + "."
        return translated(self.detail)

    @property
    def shows_value(self) -> bool:
        """Return whether the reason does not quote the value already."""
        quoted = f"“{self.value}”", f"«{self.value}»"
        return bool(self.value) and not any(each in self.more for each in quoted)

    @property
    def todo(self) -> str:
        """Return what to do; blank if nothing."""
        return FINDINGS[self.kind].todo


@dataclass
class Report:
    """The notes of an import, in the order of finding."""

    notes: list[Note] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)  # how many of each kind, kept or not
    sheets: dict[str, str] = field(default_factory=dict)  # what notes call files that are sheets

    def add(self, note: Note) -> None:
        """Count a note, and keep it while there is room."""
        self.found[note.kind] += 1
        if len(self.notes) < MOST:
            self.notes.append(replace(note, file=self.sheets.get(note.file, note.file)))

    def note(
        self, kind: str, row: Any, column: str = "", value: str = "", text: str = "", **facts: Any
    ) -> None:
        """Report a finding about a staged row, with its `key`, `file` and `line`."""
        detail = stored_message(text, **facts) if text else ""
        self.add(Note(kind, row.file, row.line, readable_key(row.key), column, value, detail))

    def counts(self) -> list[tuple[Action, str, int]]:
        """Return how many notes there are of each kind, in the order of FINDINGS."""
        return [
            (FINDINGS[kind].action, kind, self.found[kind]) for kind in FINDINGS if self.found[kind]
        ]

    def of(self, kind: str) -> list[Note]:
        return [note for note in self.notes if note.kind == kind]

    def write(self, path: Path) -> None:
        """Write every note as CSV."""
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "wb", opener=owner_only) as out:
            out.writelines(csv_pieces([COLUMNS, *map(cells, self.notes)]))


def summary(found: Mapping[str, int]) -> list[tuple[Action, int]]:
    """Return how many rows there are of each action, out of the counts of each kind of note."""
    counts: Counter[Action] = Counter()
    for kind, count in found.items():
        counts[FINDINGS[kind].action] += count
    return [(action, counts[action]) for action in Action if counts[action]]


def cells(note: Note) -> list[str]:
    """Return a note as cells of the report; a line of 0 is blank."""
    found = [getattr(note, column) for column in COLUMNS]
    return [str(value) if value else "" for value in found]


BATCH = 2000
NOTE = [getattr(ImportNote, each.name) for each in fields(Note)]


def report_rows(import_id: int, language: str) -> Iterator[list[str]]:
    """Yield the header, every note, and every field that changes.

    Texts for people are in that language; names of kinds and columns are for programs.
    """
    yield list(COLUMNS)
    notes = select(ImportNote.position, *NOTE).where(ImportNote.import_id == import_id)
    for batch in _in_batches(notes, ImportNote.position):
        with in_language(language):
            rows = [cells(Note(*row[1:])) for row in batch]
        yield from rows
    changes = select(ImportChange.kind, ImportChange.key, ImportChange)
    changes = changes.where(ImportChange.import_id == import_id)
    for batch in _in_batches(changes, ImportChange.kind, ImportChange.key):
        with in_language(language):
            changed = [row for _kind, _key, change in batch for row in _rows_of(change)]
        yield from changed


def _in_batches(query: Select[*tuple[Any, ...]], *order: Any) -> Iterator[list[Any]]:
    """Yield the rows of a query, whose first columns are those of its order.

    No transaction is open while they are sent: the client may be slow.
    """
    rest = query
    while True:
        with transaction() as session:
            batch = list(session.execute(rest.order_by(*order).limit(BATCH)))
        if not batch:
            return
        yield batch
        rest = query.where(tuple_(*order) > tuple(batch[-1][: len(order)]))


def read_notes(
    session: Session, import_id: int, *which: Any, most: int | None = None
) -> list[Note]:
    """Return the first notes of an import that meet the conditions."""
    found = select(*NOTE).where(ImportNote.import_id == import_id, *which)
    return [Note(*row) for row in session.execute(found.order_by(ImportNote.position).limit(most))]


def noted_keys(session: Session, term: str) -> set[str]:
    """Return the keys in notes of a term's imports: canceled or refused sections are among them."""
    of_term = Import.options["term"].as_string() == term
    found = select(ImportNote.key).join(Import, Import.id == ImportNote.import_id).where(of_term)
    return set(session.scalars(found.distinct()))


def store_notes(session: Session, import_id: int, notes: Sequence[Note]) -> None:
    """Store notes of an import behind those that it has."""
    last = select(func.max(ImportNote.position)).where(ImportNote.import_id == import_id)
    first = (session.scalar(last) or 0) + 1
    rows = [
        {"import_id": import_id, "position": position, **asdict(note)}
        for position, note in enumerate(notes, first)
    ]
    if rows:
        session.execute(insert(ImportNote), rows)


def add_notes(session: Session, import_id: int, notes: Sequence[Note], count: int) -> None:
    """Store more notes of one kind, and add `count` to the number of that kind."""
    if notes:
        store_notes(session, import_id, notes)
        found, kind = session.get_one(Import, import_id), notes[0].kind
        found.notes = found.notes | {kind: found.notes.get(kind, 0) + count}


def _rows_of(change: ImportChange) -> Iterator[list[str]]:
    before, after = change.before or {}, change.after or {}
    columns = [change.change, change.kind, "", "", readable_key(change.key)]
    if change.change != "changed":
        yield [*columns, "", "", "", ""]
        return
    for name in changed_fields(before, after):
        values = " → ".join(whole_text(name, fields.get(name)) for fields in (before, after))
        yield [*columns, name, values, "", ""]


def changed_fields(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return the names of the fields that differ, sorted."""
    return sorted(name for name in before | after if before.get(name) != after.get(name))


def readable_key(key: str) -> str:
    """Return a key as people read it."""
    return key.replace("\t", " · ")
