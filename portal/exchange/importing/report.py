"""What an import did with rows that it could not take as they are: counted, named, explained."""

import csv
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from portal.core.i18n import translated as told
from portal.core.private_files import owner_only
from portal.exchange.importing.kinds import KINDS, Action
from portal.registration.reasons import label
from portal.spreadsheets import plain

MOST = 20_000  # notes that are kept in full; more of them are only counted
LONGEST_VALUE = 200
SEATS = {"seat", "seat_late"}  # kinds whose details are codes of refusals
COLUMNS = ("action", "kind", "file", "line", "key", "column", "value", "why", "todo")


class Place(Protocol):
    """Where in the files something stands."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    def __getitem__(self, column: str) -> str: ...


@dataclass(frozen=True, slots=True)
class Note:
    """One line of the report; `key` is what its row calls itself."""

    kind: str
    file: str
    line: int
    key: str
    column: str
    value: str
    detail: str

    @property
    def action(self) -> Action:
        """What was done with the row."""
        return KINDS[self.kind].action

    @property
    def why(self) -> str:
        """What is the matter."""
        detail = _obstacles(self.detail) if self.kind in SEATS else told(self.detail)
        return f"{KINDS[self.kind].why} {detail}".strip()

    @property
    def todo(self) -> str:
        """What would help; blank where nothing need be done."""
        return KINDS[self.kind].todo


@dataclass
class Report:
    """Everything worth telling of an import, in the order of finding."""

    notes: list[Note] = field(default_factory=list)
    found: Counter[str] = field(default_factory=Counter)  # how many of each kind, kept or not

    def note(self, kind: str, row: Place, column: str = "", detail: str = "") -> None:
        """Note what happened to a row, at one of its columns."""
        key = row["crn"] or row["course_id"] or row["dept_code"] or row["sourcedId"]
        value = row[column][:LONGEST_VALUE] if column else ""
        self.add(Note(kind, row.file, row.line, key[:LONGEST_VALUE], column, value, detail))

    def add(self, note: Note) -> None:
        """Count a note, and keep it while there is room."""
        self.found[note.kind] += 1
        if len(self.notes) < MOST:
            self.notes.append(note)

    def counts(self) -> list[tuple[Action, str, int]]:
        """How many notes of each kind, refusals first."""
        return [(KINDS[kind].action, kind, self.found[kind]) for kind in KINDS if self.found[kind]]

    def of(self, kind: str) -> list[Note]:
        """The notes of one kind."""
        return [note for note in self.notes if note.kind == kind]

    def write(self, path: Path) -> None:
        """Write every note in full, as JSON where the name ends so, else as CSV."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            told = [dict(zip(COLUMNS, cells(note), strict=True)) for note in self.notes]
            with open(path, "w", encoding="utf-8", opener=owner_only) as out:
                out.write(json.dumps(told, indent=1) + "\n")
            return
        with open(
            path,
            "w",
            encoding="utf-8-sig",
            errors="backslashreplace",
            newline="",
            opener=owner_only,
        ) as out:
            writer = csv.writer(out)
            writer.writerow(COLUMNS)
            writer.writerows(map(plain, cells(note)) for note in self.notes)


def _obstacles(codes: str) -> str:
    """Reasons that were kept by their codes."""
    return "; ".join(label(code) for code in codes.split()) + "."


def cells(note: Note) -> list[str]:
    """A note as the report's columns."""
    told = {column: str(getattr(note, column)) for column in COLUMNS}
    return list((told if note.line else told | {"line": ""}).values())
