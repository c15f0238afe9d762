"""What an import did with rows that it could not take as they are: counted, named, explained."""

import csv
import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import Protocol


class Action(StrEnum):
    REFUSED = "refused"  # the row is not imported
    REPAIRED = "repaired"  # imported, but not as written
    LEFT_OUT = "left out"  # a field for which the portal has no place
    KEPT = "kept"  # imported as written, though it looks odd


KINDS: dict[str, tuple[Action, str]] = {
    "row_shape": (Action.REFUSED, "The row has more or fewer fields than the header."),
    "no_key": (Action.REFUSED, "The row doesn't say what it's about."),
    "duplicate": (Action.REFUSED, "It repeats an earlier row, which counts."),
    "own_course": (Action.REFUSED, "A section is not cross-listed with its own course."),
    "orphan": (Action.REFUSED, "No section has this registration number."),
    "unreadable": (Action.REFUSED, "The row makes no sense without this field."),
    "other_term": (Action.REFUSED, "The row is of another term than most of the file."),
    "file_missing": (Action.REPAIRED, "The file is not there; the import does without it."),
    "encoding": (Action.REPAIRED, "The file is not UTF-8; it was read as Windows-1252."),
    "spaces": (Action.REPAIRED, "Doubled spaces were taken out."),
    "too_long": (Action.REPAIRED, "The text was cut to the length that fits."),
    "title_missing": (Action.REPAIRED, "The course has no title; that of a section stands in."),
    "number_missing": (Action.REPAIRED, "The section has no number; it got 01."),
    "credits_missing": (Action.REPAIRED, "No readable credits; the course's or sections' count."),
    "count": (Action.REPAIRED, "This is no number of seats; a cautious one stands in."),
    "course_added": (Action.REPAIRED, "The course isn't in courses.csv; made from its section."),
    "department_added": (Action.REPAIRED, "The department isn't in departments.csv; added."),
    "days_unreadable": (Action.REPAIRED, "The days make no sense; the meeting is TBA."),
    "times_unreadable": (Action.REPAIRED, "The times make no sense; the meeting is TBA."),
    "dates_unreadable": (Action.REPAIRED, "The dates make no sense; the term's stand in."),
    "dates_missing": (Action.REPAIRED, "The meeting has no dates; the term's stand in."),
    "dates_reversed": (Action.REPAIRED, "The last date is before the first; they were swapped."),
    "time_without_days": (Action.REPAIRED, "A time without days; the meeting is TBA."),
    "midnight": (Action.REPAIRED, "It ends at midnight; 11:59 pm stands in."),
    "empty_group": (Action.REPAIRED, "An empty group of prerequisites was taken away."),
    "not_represented": (Action.LEFT_OUT, "The portal has no place for this column."),
    "over_capacity": (Action.KEPT, "More students than seats already."),
    "no_seats": (Action.KEPT, "The capacity is 0: nobody can register."),
    "counts_disagree": (Action.KEPT, "Capacity less enrolled is not what remaining says."),
    "several_credits": (Action.KEPT, "The sections of the course have different credits."),
    "days_without_time": (Action.KEPT, "Days without a time; the time is TBA."),
    "exam_block": (Action.KEPT, "A common exam block: shown, but it clashes with nothing."),
    "overlaps_itself": (Action.KEPT, "Two of the section's own meetings overlap."),
    "prerequisites_unnamed": (Action.KEPT, "It says that it has prerequisites, not which."),
    "cross_list_not_offered": (Action.KEPT, "The cross-listed course is not offered this term."),
    "levels_disagree": (Action.KEPT, "The section's levels aren't those of restrictions.csv."),
    "major_added": (Action.KEPT, "Named by restrictions only; students can now have it as major."),
    "course_changed": (Action.KEPT, "The course was known with other facts; the new ones count."),
}


class Place(Protocol):
    """Where in the files something stands."""

    @property
    def file(self) -> str: ...
    @property
    def line(self) -> int: ...
    def __getitem__(self, column: str) -> str: ...


@dataclass(frozen=True)
class Note:
    """One line of the report."""

    action: Action
    kind: str
    file: str
    line: int
    key: str  # registration number or code
    column: str
    value: str
    why: str


@dataclass
class Report:
    """Everything worth telling of an import, in the order of finding."""

    notes: list[Note] = field(default_factory=list)

    def note(self, kind: str, row: Place, column: str = "", detail: str = "") -> None:
        """Note what happened to a row, at one of its columns."""
        action, why = KINDS[kind]
        key = row["crn"] or row["course_id"] or row["dept_code"]
        value = row[column] if column else ""
        told = f"{why} {detail}".strip()
        self.notes.append(Note(action, kind, row.file, row.line, key, column, value[:200], told))

    def counts(self) -> list[tuple[Action, str, int]]:
        """How many notes of each kind, refusals first."""
        found = Counter(note.kind for note in self.notes)
        return [(action, kind, found[kind]) for kind, (action, _) in KINDS.items() if found[kind]]

    def of(self, kind: str) -> list[Note]:
        """The notes of one kind."""
        return [note for note in self.notes if note.kind == kind]

    def write(self, path: Path) -> None:
        """Write every note in full, as JSON where the name ends so, else as CSV."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".json":
            rows = [asdict(note) for note in self.notes]
            path.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
            return
        with path.open("w", encoding="utf-8", errors="backslashreplace", newline="") as out:
            writer = csv.writer(out)
            writer.writerow([each.name for each in fields(Note)])
            writer.writerows(cells(note) for note in self.notes)


def cells(note: Note) -> Iterable[str]:
    """A note as cells that no spreadsheet takes for a formula."""
    for value in asdict(note).values():
        text = str(value)
        yield f"'{text}" if text.startswith(("=", "+", "-", "@", "\t")) else text
