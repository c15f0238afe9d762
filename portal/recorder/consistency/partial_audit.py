"""Partial audit: a few sections of a term, or its waiting rooms, and their events and rows."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Section
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.recorder import read_models
from portal.recorder.consistency import audit, ledger_keys, room_image
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.ledger_image import BY_NAME, KINDS, Image, Kind, split
from portal.recorder.event_log import fold, read_events
from portal.recorder.events import QUEUE, Event
from portal.recorder.models import (
    Enrollment,
    LoggedEvent,
    QueueEntryRecord,
    QueueRoom,
    SectionSeats,
    WaitlistEntry,
)
from portal.windows.models import Window

AT_ONCE = 50  # sections: one atomic step reads the ledger and delays claims meanwhile
TRIES = 5
SHARES = text("""
    SELECT DISTINCT (payload ->> 'section')::int, (payload ->> 'pool')::int FROM events
    WHERE term_id = :term AND name = 'section_set' AND payload ? 'pool'
""")
DROPS = text("""
    SELECT student_id, payload ->> 'day', count(*) FROM events
    WHERE term_id = :term AND student_id = ANY(:students) AND seq <= :through
      AND name = 'dropped' AND payload ? 'day'
    GROUP BY 1, 2
""")
ROOMS = {"ledger waiting room", QueueRoom.__tablename__, QueueEntryRecord.__tablename__}
OF_SECTION = re.compile(r"(?:section |\b[ecw]:)(\d+)")


class Behind(Exception):
    """The ledger is ahead of what can be recorded, so it cannot be compared."""


@dataclass(frozen=True)
class SectionGroup:
    """Sections, those that ever shared seats with them, and their pools.

    All windows, deadlines and rounds of the term belong to each group.
    """

    term: int
    sections: frozenset[int]
    pools: frozenset[int]
    windows: frozenset[int]

    @property
    def aggregates(self) -> list[str]:
        return [
            *(f"section:{section}" for section in sorted(self.sections)),
            *(f"window:{window}" for window in sorted(self.windows)),
            "deadlines",
            "rounds",
        ]

    def keys(self, students: Iterable[int]) -> set[str]:
        """Return the ledger's keys of the group, with those of these students."""
        numbers = {"": (None,), "section": self.sections, "pool": self.pools, "student": students}
        return {kind.key(number) for kind in KINDS for number in numbers[kind.per]}

    def holds(self, kind: Kind, number: str, name: str) -> bool:
        """Return whether an entry of such a key belongs to the group."""
        kept_by, which = (kind.per, number) if kind.per else (kind.entry, name)
        if kind.name == "student":
            kept_by, which = "section", name.partition(":")[2]
        known = {"section": self.sections, "pool": self.pools, "window": self.windows}
        return kept_by not in known or (which.isdecimal() and int(which) in known[kept_by])


def next_sections(term: int, last: int) -> list[int]:
    """Return the next sections of a term, by number; empty after the last."""
    with transaction() as session:
        with_records = select(Section.id).where(Section.term_id == term, Section.id > last)
        counted = select(SectionSeats.section_id).where(
            SectionSeats.term_id == term, SectionSeats.section_id > last
        )
        known = set(session.scalars(with_records.union(counted).order_by("id").limit(AT_ONCE)))
    known |= {section for section in ledger_keys.sections_of(term) if section > last}
    return sorted(known)[:AT_ONCE]


def section_group(term: int, sections: Iterable[int]) -> SectionGroup:
    """Return a group: these sections, and those that share seats with them."""
    with transaction() as session:
        shared = session.execute(SHARES, {"term": term}).all()
    # Pools that only the ledger knows belong to every group.
    pools = ledger_keys.pools_of(term) - {pool for _, pool in shared}
    reached = set(sections)
    while more := {pool for section, pool in shared if section in reached} - pools:
        pools |= more
        reached |= {section for section, pool in shared if pool in pools}
    return SectionGroup(term, frozenset(reached), frozenset(pools), frozenset(_windows(term)))


def _windows(term: int) -> set[int]:
    """Return the windows that PostgreSQL or the ledger knows."""
    with transaction() as session:
        known = set(session.scalars(select(Window.id).where(Window.term_id == term)))
    return known | {window.id for window in backend().ledger.windows(term)}


def compare(term: int, sections: Iterable[int]) -> list[Difference]:
    """Return what differs in these sections and those that share seats with them.

    Claims may go on meanwhile. Raises Behind.
    """
    sections = set(sections)
    for _ in range(TRIES):
        part = section_group(term, sections)
        students = _students(part)
        steps = ledger_keys.read_keys(term, part.keys(students))
        audit.unrecordable(term)  # reported elsewhere
        if part == section_group(term, sections):
            break  # otherwise another section now shares their seats, or a window was added
    image, at = Image(), 0
    reserves = steps[0][1]["reserves"].items()
    image.elsewhere = {due for each, due in reserves if int(each) not in part.sections}

    def advance(session: Session, through: int) -> None:
        nonlocal at
        fold(session, term, image, at, through, part.aggregates)
        at = max(at, through)
        image.drops = _drops(session, term, students, through)

    found, unrecorded = audit.compare(
        term,
        image,
        steps,
        advance,
        lambda session: read_models.load_some(session, term, part.sections, part.windows),
        within=part.holds,
        students=students,
    )
    _refuse_unrecorded(term, unrecorded)
    return found


def compare_rooms(term: int) -> list[Difference]:
    """Return what differs in the waiting rooms of a term; raise Behind."""
    queues = [f"{QUEUE}{window}" for window in _windows(term)]
    image, at = Image(), 0

    def advance(session: Session, through: int) -> None:
        nonlocal at
        fold(session, term, image, at, through, queues)
        at = max(at, through)

    with transaction() as session:
        advance(session, checkpoint(term, session))
    rooms = room_image.read(term, image)
    audit.unrecordable(term)  # reported elsewhere
    found, unrecorded = audit.compare(
        term,
        image,
        ledger_keys.read_keys(term, ()),
        advance,
        lambda session: read_models.load_rooms(session, term),
        students=(),
        rooms=rooms,
    )
    _refuse_unrecorded(term, unrecorded)
    return found


def _refuse_unrecorded(term: int, unrecorded: int) -> None:
    if unrecorded:
        raise Behind(f"{unrecorded} events of term {term} are not recorded yet")


def _drops(
    session: Session, term: int, students: Iterable[int], through: int
) -> dict[int, Counter[str]]:
    """Return the drops of students by day, in any section."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    parameters = {"term": term, "through": through, "students": list(students)}
    for student, day, count in session.execute(DROPS, parameters):
        found[student][day] = count
    return found


def _students(part: SectionGroup) -> set[int]:
    """Return who has or had a seat or position there, by the read models or the ledger."""
    held = select(Enrollment.student_id).where(Enrollment.section_id.in_(part.sections))
    waited = select(WaitlistEntry.student_id).where(WaitlistEntry.section_id.in_(part.sections))
    with transaction() as session:
        known = set(session.scalars(held.union(waited)))
    return known | ledger_keys.students(part.term, part.sections)


# A section or a student, event by event, beside the ledger and the read models.

QUIET = {"section", "student", "seats", "also", "times"}  # shown elsewhere, or long


def explain(term: int, kind: str, number: int) -> Iterator[str]:
    """Yield lines about a `section` or `student`; the differences come last."""
    sections = {number} if kind == "section" else _sections_of(term, number)
    part, about = section_group(term, sections), f"{kind} {number}"
    with transaction() as session:
        for event in read_events(session, term, 0, checkpoint(term, session), part.aggregates):
            if event.payload.get(kind) == number:
                yield _line(event)
    yield from _rows(term, kind, number)
    for _, found in ledger_keys.read_keys(term, part.keys({number} if kind == "student" else ())):
        for key, entries in sorted(found.items()):
            where, of = split(key)
            for name, value in entries.items():
                what = BY_NAME[where].describe(of, name)
                if about in what.split(", "):
                    yield f"LEDGER   {where}, {what}: {value}"
    try:
        differences = compare(term, sections)
    except Behind as behind:
        yield f"UNKNOWN  whether it differs: {behind}"
        return
    for each in differences:
        if about in each["what"].split(", ") or f"id {number}" == each["what"]:
            fields = (f"{name.replace('_', ' ')}: {value}" for name, value in each.items())
            yield f"DIFFERS  {'; '.join(fields)}"


def _sections_of(term: int, student: int) -> set[int]:
    """Return the sections that any source connects with the student."""
    found = select(LoggedEvent.payload["section"].as_integer()).where(
        LoggedEvent.student_id == student, LoggedEvent.term_id == term
    )
    with transaction() as session:
        known = {section for section in session.scalars(found) if section}
    key = f"student:{student}"
    (_, ledger), *_ = ledger_keys.read_keys(term, [key])
    return known | {int(field.partition(":")[2]) for field in ledger[key]}


def _line(event: Event) -> str:
    payload, seats = event.payload, event.payload.get("seats") or {}
    fields = {name: value for name, value in payload.items() if name not in QUIET}
    counts = ", ".join(f"{name} {seats[name]}" for name in ("taken", "waiting") if name in seats)
    student = f" student {payload['student']}" if "student" in payload else ""
    return (
        f"{event.seq:>8}  {event.at:%Y-%m-%d %H:%M:%S.%f}  {event.aggregate}{student} {event.name}"
        f" {fields} → {counts or 'nothing counted'}; by {event.context['actor']}"
    )


def _rows(term: int, kind: str, number: int) -> Iterator[str]:
    """Yield what the read models hold."""
    with transaction() as session:
        for model in read_models.TABLES:
            table = model.__table__
            if f"{kind}_id" in table.c:
                rows = select(table).where(table.c.term_id == term, table.c[f"{kind}_id"] == number)
                for row in session.execute(rows).mappings():
                    fields = {name: str(value) for name, value in row.items() if name != "term_id"}
                    yield f"READ     {model.__tablename__}: {fields}"
