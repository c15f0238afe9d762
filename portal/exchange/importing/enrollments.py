"""The enrollments of an import: additions, drops, and moves within a course.

The ledger decides them last, in batches, each batch in one step (`adjust_batch`). A refused move
keeps its old seat. Changes that a batch refuses are tried again in larger batches, because others
may free a seat for them, until no more succeed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import groupby, islice
from typing import Any, NamedTuple

from sqlalchemy import TextClause, delete, func, select, text, update
from sqlalchemy.orm import Session

from portal.catalog.term_catalog import expire
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import translated
from portal.exchange.importing import import_jobs
from portal.exchange.importing.diff import Counts
from portal.exchange.importing.models import Import, ImportRow, Options
from portal.exchange.importing.report import LATE, LEFT, MOST, Note, add_notes, readable_key
from portal.exchange.importing.tables import Progress
from portal.exchange.record_sql import part, section_part
from portal.ledger.errors import KeyReused
from portal.ledger.types import NOT_OVERRIDABLE, Outcome
from portal.people.student_profile import StudentProfile, read_all
from portal.recorder.events import IMPORT_PREFIX
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment, Batch
from portal.registration.reasons import OUT_OF_TIME, REASONS

# Changes in one step of the ledger: other requests wait about 10 ms, or 100 ms.
BATCHES = (100, 1000)
STREAMED = 2000  # rows
# An import is not a student's own act: it needs no window, no deadline holds, and its drops are not
# counted. The
# precheck checks corequisites once, against everything that a student is to have.
NOT_CHECKED = frozenset(
    {*OUT_OF_TIME, "section_confirmed", "drop_limit", "needed_by", "corequisite"}
)
OVERRIDABLE = frozenset(REASONS) - NOT_OVERRIDABLE
IN, OUT = "already_enrolled", "not_enrolled"

ROWS = "SELECT * FROM import_rows AS rows WHERE import_id = :id AND kind = 'enrollment'"
CHANGED = f"""
    {ROWS} AND EXISTS (
        SELECT FROM import_changes AS changes WHERE changes.import_id = :id
        AND changes.kind = 'enrollment' AND changes.key = rows.key
    )
"""
# Few enough to look up one by one. The removal of a move goes with its addition.
NEXT = f"""{ROWS} AND id > :after AND CASE WHEN :removes
    THEN removes AND NOT EXISTS (SELECT FROM import_rows AS added WHERE added.id = rows.pair)
    ELSE NOT removes END ORDER BY id LIMIT :most"""
RESOLVED = f"""
    SELECT rows.id, rows.removes, rows.file, rows.line, rows.key, terms.id AS term,
        sections.id AS section, students.id AS student, (rows.fields ->> 'credits')::int AS credits,
        old.id AS old_id, old.file AS old_file, old.line AS old_line, old.key AS old_key,
        old_section.id AS old_section
    FROM ({{rows}}) AS rows
    LEFT JOIN terms ON terms.name = {part(1, "rows.key")}
    LEFT JOIN sections ON term_id = terms.id AND crn = {part(2, "rows.key")}
    LEFT JOIN students ON students.number = {part(3, "rows.key")}
    LEFT JOIN import_rows AS old ON old.id = rows.pair AND old.removes
    LEFT JOIN sections AS old_section ON old_section.term_id = terms.id
        AND old_section.crn = {part(2, "old.key")}
    ORDER BY {{order}}
"""
BY_STUDENT = text(RESOLVED.format(rows=CHANGED, order="terms.id, students.id, rows.id"))
IN_ORDER = text(RESOLVED.format(rows=CHANGED, order="NOT rows.removes, rows.id"))
FOLLOWING = text(RESOLVED.format(rows=NEXT, order="rows.id"))
# Courses as the import leaves them. Of several, the first addition goes with the first removal.
PAIR = text(f"""
    WITH courses AS (
        SELECT key, coalesce(rows.fields ->> 'course', here.fields ->> 'course') AS course
        FROM (SELECT key, fields FROM current_records WHERE kind = 'section') AS here
        FULL JOIN (
            SELECT key, fields FROM import_rows
            WHERE import_id = :id AND kind = 'section' AND NOT removes
        ) AS rows USING (key)
    ), seats AS (
        SELECT rows.id, removes, {part(1, "rows.key")} AS term, course,
            {part(3, "rows.key")} AS student
        FROM import_rows AS rows JOIN import_changes USING (import_id, kind, key)
        JOIN courses ON courses.key = {section_part("rows.key")}
        WHERE import_id = :id AND kind = 'enrollment'
    ), ranked AS (
        SELECT *, row_number() OVER (
            PARTITION BY removes, term, course, student ORDER BY id
        ) AS nth FROM seats
    ), pairs AS (
        SELECT added.id AS added, removed.id AS removed
        FROM ranked AS added JOIN ranked AS removed USING (term, course, student, nth)
        WHERE removed.removes AND NOT added.removes
    )
    UPDATE import_rows AS rows SET pair = other
    FROM (
        SELECT added AS id, removed AS other FROM pairs UNION ALL SELECT removed, added FROM pairs
    ) AS both_ways
    WHERE rows.id = both_ways.id
""")


class Change(NamedTuple):
    """A row about an enrollment; an ID is None if the record does not exist.

    A move has an `old` row, which removes the student from another section of the course.
    """

    id: int
    removes: bool
    file: str
    line: int
    key: str
    term: int | None
    section: int | None
    student: int | None
    credits: int | None  # hundredths; None = the least of the section
    old_id: int | None
    old_file: str
    old_line: int
    old_key: str
    old_section: int | None

    @property
    def rows(self) -> list[int]:
        """Its row, and the old row of a move."""
        return [each for each in (self.id, self.old_id) if each]

    def note(self, kind: str, codes: Sequence[str] = ()) -> Note:
        """Return a line of the report about it; its detail is the codes of the reasons."""
        key = readable_key(self.key)
        return Note(kind, self.file, self.line, key, detail=" ".join(codes))

    def refusal(self, kind: str, codes: Sequence[str]) -> list[Note]:
        """Return notes that it is refused, and that the student keeps the old seat."""
        notes = [self.note(kind, codes)]
        if self.old_id:
            key = readable_key(self.old_key)
            notes.append(Note("stays", self.old_file, self.old_line, key))
        return notes


def pair_moves(session: Session, import_id: int, counts: Counts) -> None:
    """Pair additions with removals of the same student in the same course: they are moves."""
    seats = counts.get("enrollment", {})
    if seats.get("added") and seats.get("removed"):
        session.execute(PAIR, {"id": import_id})


def by_student(session: Session, import_id: int) -> Iterator[Change]:
    """Stream all changes, sorted by term and student."""
    return _stream(session, BY_STUDENT, import_id)


def in_order(session: Session, import_id: int) -> Iterator[Change]:
    """Stream all changes, removals first."""
    return _stream(session, IN_ORDER, import_id)


def decide_enrollments(import_id: int, progress: Progress) -> None:
    """Apply the enrollments that are left of an import, and note what the ledger refuses by row.

    Each batch leaves the list once it is decided. A batch that a killed worker had decided but not
    noted gets the same answers. Raises LedgerUnavailable.
    """
    with transaction() as session:
        found = session.get_one(Import, import_id)
        decisions = _Decisions(found, progress, count_left(session, import_id))
    for size in BATCHES:
        while decisions.try_all(size):
            pass
    decisions.refuse_rest()
    _finish(import_id)


@dataclass
class _Decisions:
    found: Import
    progress: Progress
    total: int
    done: int = 0  # rows
    refused: dict[int, list[str]] = field(default_factory=dict)  # codes by row, tried again later

    def try_all(self, size: int) -> bool:
        """Decide all remaining rows, removals first. Return whether any of them is done."""
        before = self.done
        for removes in (True, False):
            query = {"id": self.found.id, "after": 0, "removes": removes, "most": size}
            while batch := _read(FOLLOWING, query):
                self.decide(batch)
                query["after"] = batch[-1].id
        return self.done > before

    def decide(self, changes: Collection[Change]) -> None:
        """Let the ledger decide changes, those of one term in one step."""
        done: list[int] = []
        alone: list[int] = []  # rows that continue without the other half of their move
        notes: list[Note] = []
        for change, codes in _decide(self.found, changes):
            already = {IN, OUT} & set(codes)
            against = [code for code in codes if code not in already]
            if codes and not change.removes and NOT_OVERRIDABLE.isdisjoint(codes):
                self.refused[change.id] = codes
            elif change.old_id and len(already) == 1:  # the student has done one half already
                halves = [change.id, change.old_id]
                half, other = halves if IN in already else reversed(halves)
                done.append(half)
                alone.append(other)
            else:
                done += change.rows
                notes += change.refusal(LATE, against) if against else []
        self._record(done, alone, notes)

    def refuse_rest(self) -> None:
        """Refuse the additions for which nothing can be done."""
        query = {"id": self.found.id, "after": 0, "removes": False, "most": BATCHES[-1]}
        while batch := _read(FOLLOWING, query):
            against = [(change, self.refused.get(change.id, ["full"])) for change in batch]
            notes = [note for change, codes in against for note in change.refusal(LATE, codes)]
            self._record([row for change in batch for row in change.rows], [], notes)

    def _record(self, done: list[int], alone: list[int], notes: list[Note]) -> None:
        """Delete the finished rows and store the notes."""
        if done:
            with transaction() as session:
                session.execute(delete(ImportRow).where(ImportRow.id.in_(done)))
                session.execute(update(ImportRow).where(ImportRow.id.in_(alone)).values(pair=None))
                for kind in dict.fromkeys(note.kind for note in notes):
                    some = [note for note in notes if note.kind == kind]
                    add_notes(session, self.found.id, some, len(some))
                import_jobs.reset_tries(session, self.found.id)
        self.done += len(done)
        self.progress("enrolling", self.done, self.total)


def _decide(found: Import, changes: Collection[Change]) -> Iterator[tuple[Change, list[str]]]:
    """Yield each change with the codes that refuse it; no codes if it is done."""
    with transaction() as session:
        people = read_all(session, {change.student for change in changes if change.student})
    for term, of_term in groupby(sorted(changes, key=_term_of), key=_term_of):
        expire(term)  # the import has just changed the catalog
        known = []
        for change in of_term:
            if change.section and change.student in people:
                known.append(change)
            else:
                yield change, ["student_unknown" if change.section else "section_unknown"]
        past = Options.read(found.options).past
        many = Batch(
            term,
            # No client can send a key with colons.
            {f"import:{found.id}:{change.id}": _adjustment(change) for change in known},
            overrides=tuple(sorted(OVERRIDABLE if past else NOT_CHECKED)),
            why=f"Import {found.id}: {found.name}",
            by=found.account_id,
            correlation=f"{IMPORT_PREFIX}{found.id}",
        )
        for change, codes in zip(known, _refusals(many, people), strict=True):
            yield change, codes


def _refusals(batch: Batch, people: Mapping[int, StudentProfile]) -> list[list[str]]:
    """Decide the changes of a batch. Return the codes that refuse each, none where it is done.

    The ledger decides nothing of a batch with a reused idempotency key. Its changes are then
    decided one by one, and the one with that key counts as decided before.
    """
    try:
        decided = adjustments.adjust_batch(batch, people)
    except KeyReused:
        if len(batch.changes) == 1:
            return [[]]
        alone = (replace(batch, changes={key: each}) for key, each in batch.changes.items())
        return [codes for one in alone for codes in _refusals(one, people)]
    return [
        [reason.code for reason in each.reasons] if each.outcome == Outcome.REFUSED else []
        for each in decided
    ]


def _adjustment(change: Change) -> Adjustment:
    term, student = _term_of(change), change.student or 0
    if change.removes:
        return Adjustment(term, student, drop=change.section)
    worth = None if change.credits is None else Decimal(change.credits) / 100
    return Adjustment(term, student, add=change.section, drop=change.old_section, credits=worth)


def _term_of(change: Change) -> int:
    return change.term or 0


def count_left(session: Session, import_id: int) -> int:
    """Return how many enrollments are neither applied nor refused yet."""
    counted = select(func.count()).where(ImportRow.import_id == import_id)
    return session.scalar(counted) or 0


def end_import(session: Session, import_id: int, by: int, why: str) -> bool:
    """End an import without the enrollments that are left, which its report then names.

    False while a worker is at it, and once it is done.
    """
    error = session.get_one(Import, import_id).error
    if not import_jobs.lock(session):
        return False
    if not import_jobs.change_state(session, import_id, "done", of=("enrolling",), error=""):
        return False
    count, some = count_left(session, import_id), islice(in_order(session, import_id), MOST)
    add_notes(session, import_id, [change.note(LEFT) for change in some], count)
    add_audit_entry(
        session,
        "import.end",
        f"import:{import_id}",
        by=by,
        before={"error": translated(error)},
        after={"left": count},
        reason=why,
    )
    import_jobs.clear(session, [import_id], import_jobs.INPUT_TABLES)
    return True


def _finish(import_id: int) -> None:
    with transaction() as session:
        if not import_jobs.change_state(session, import_id, "done", of=("enrolling",), error=""):
            return
        found = session.get_one(Import, import_id)
        changed = {each: found.counts["enrollment"][each] for each in ("added", "removed")}
        add_audit_entry(
            session,
            "import.seat",
            f"import:{import_id}",
            by=found.account_id,
            after=changed | {"refused": found.notes.get(LATE, 0)},
            reason="" if found.account_id else "command line",
        )
        import_jobs.clear(session, [import_id], import_jobs.INPUT_TABLES)


def _read(query: TextClause, facts: dict[str, Any]) -> list[Change]:
    with transaction() as session:
        return [Change(*row) for row in session.execute(query, facts)]


def _stream(session: Session, query: TextClause, import_id: int) -> Iterator[Change]:
    streamed = {"yield_per": STREAMED}
    for row in session.execute(query, {"id": import_id}, execution_options=streamed):
        yield Change(*row)
