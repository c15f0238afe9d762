"""Who is to be put into which section, and who to be taken out."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.importing.compare import shown
from portal.exchange.importing.report import Note
from portal.seats.by_hand import FIRM, SHUT
from portal.seats.labels import LABELS

BATCH = 2000
ROWS = "SELECT * FROM import_rows AS rows WHERE import_id = :id AND kind = 'enrollment'"
CHANGED = f"""
    {ROWS} AND EXISTS (
        SELECT FROM import_changes AS changes WHERE changes.import_id = :id
        AND changes.kind = 'enrollment' AND changes.key = rows.key
    )
"""
# So few that what they name is looked up one by one. A removal that is half of a change is done
# with the addition, while that is there.
FEW = f"""{ROWS} AND id > :after AND CASE WHEN :removes
    THEN removes AND NOT EXISTS (SELECT FROM import_rows AS come WHERE come.id = rows.pair)
    ELSE NOT removes END ORDER BY id LIMIT :most"""
NAMED = """
    SELECT rows.id, rows.removes, rows.file, rows.line, rows.key, terms.id AS term,
        sections.id AS section, sections.pool_id AS pool, students.id AS student,
        (rows.fields ->> 'credits')::int AS credits,
        old.id, old.file, old.line, old.key, old_section.id, old_section.pool_id
    FROM ({rows}) AS rows
    LEFT JOIN terms ON terms.name = split_part(rows.key, E'\\t', 1)
    LEFT JOIN sections ON term_id = terms.id AND crn = split_part(rows.key, E'\\t', 2)
    LEFT JOIN students ON students.number = split_part(rows.key, E'\\t', 3)
    LEFT JOIN import_rows AS old ON old.id = rows.pair AND old.removes
    LEFT JOIN sections AS old_section ON old_section.term_id = terms.id
        AND old_section.crn = split_part(old.key, E'\\t', 2)
    ORDER BY {order}
"""
BY_STUDENT = text(NAMED.format(rows=CHANGED, order="terms.id, students.id, rows.id"))
BY_TURN = text(NAMED.format(rows=CHANGED, order="NOT rows.removes, rows.id"))
NEXT = text(NAMED.format(rows=FEW, order="rows.id"))
WAITING = text(NAMED.format(rows=f"{ROWS} AND NOT removes", order="rows.id"))

# An import is no act of a student's: it needs no window, and what is taken away is so already.
# Corequisites are looked at in advance, once for all that a student is to have.
NO_MATTER = frozenset({*SHUT, "section_confirmed", "drop_limit", "needed_by", "corequisite"})
PAST = frozenset(LABELS) - FIRM


@dataclass(frozen=True, slots=True)
class Old:
    """The row that takes a student out of the section that is changed for another."""

    id: int
    file: str
    line: int
    key: str
    section: int | None
    pool: int | None


@dataclass(frozen=True, slots=True)
class Move:
    """A row about a student's seat; an id is None where there is no such thing."""

    id: int
    removes: bool
    file: str
    line: int
    key: str
    term: int | None
    section: int | None
    pool: int | None
    student: int | None
    credits: int | None  # hundredths; None = the least of the section
    old: Old | None  # of an addition that is half of a change

    @property
    def rows(self) -> list[int]:
        """Its row, and that of the seat that goes with it."""
        return [self.id, *([self.old.id] if self.old else [])]

    def note(self, kind: str, codes: list[str]) -> Note:
        """A line of the report about it; the reasons are told by their codes."""
        return Note(kind, self.file, self.line, shown(self.key), "", "", " ".join(codes))

    def refusal(self, kind: str, codes: list[str]) -> list[Note]:
        """That it is refused, and which seat is therefore kept."""
        old = self.old
        kept = [Note("stays", old.file, old.line, shown(old.key), "", "", "")] if old else []
        return [self.note(kind, codes), *kept]


def by_student(session: Session, import_id: int) -> Iterator[Move]:
    """All that change something, each student's of a term together."""
    return _run(session, BY_STUDENT, import_id)


def by_turn(session: Session, import_id: int) -> Iterator[Move]:
    """All that change something in the order in which they are done: removals come first."""
    return _run(session, BY_TURN, import_id)


def following(
    session: Session, import_id: int, after: int, most: int, *, removes: bool
) -> list[Move]:
    """The next that are left to be done: removals by themselves, or all else."""
    asked = {"id": import_id, "removes": removes, "after": after, "most": most}
    return [_move(row) for row in session.execute(NEXT, asked)]


def waiting(session: Session, import_id: int) -> list[Move]:
    """All additions that are left to be done."""
    return [_move(row) for row in session.execute(WAITING, {"id": import_id})]


def _run(session: Session, query: Any, import_id: int) -> Iterator[Move]:
    streamed = {"yield_per": BATCH}
    for row in session.execute(query, {"id": import_id}, execution_options=streamed):
        yield _move(row)


def _move(row: Any) -> Move:
    old = Old(*row[10:]) if row[10] else None
    return Move(*(*row[:10], old))
