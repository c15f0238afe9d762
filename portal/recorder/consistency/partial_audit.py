"""Partial audit: a few sections of a term, their events, ledger keys and rows."""

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
from portal.recorder import idempotency, read_models
from portal.recorder.consistency import ledger_keys
from portal.recorder.consistency.audit import unrecordable
from portal.recorder.consistency.differences import Difference, of_ledger, of_log, of_read_models
from portal.recorder.consistency.ledger_image import KINDS, Image, Kind
from portal.recorder.consistency.ledger_keys import Step
from portal.recorder.event_log import UNREADABLE
from portal.recorder.events import Event
from portal.recorder.models import (
    EVENT_COLUMNS,
    Enrollment,
    LoggedEvent,
    SectionSeats,
    WaitlistEntry,
)
from portal.recorder.projections import TermState, UnknownEvent, apply
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
OF_SECTION = re.compile(r"(?:section |\b[ecw]:)(\d+)")


class Behind(Exception):  # noqa: N818  a state of the world, not a mistake
    """The ledger is ahead of what can be recorded, so it cannot be compared."""


@dataclass(frozen=True)
class Slice:
    """Sections with all that ever shared seats with them, their pools, and all windows."""

    term: int
    sections: frozenset[int]
    pools: frozenset[int]
    windows: frozenset[int]

    @property
    def aggregates(self) -> list[str]:
        return [
            *(f"section:{section}" for section in sorted(self.sections)),
            *(f"window:{window}" for window in sorted(self.windows)),
        ]

    def keys(self, students: Iterable[int]) -> set[str]:
        """Return the ledger's keys of the slice, with those of these students."""
        numbers = {"": (None,), "section": self.sections, "pool": self.pools, "student": students}
        return {kind.key(number) for kind in KINDS for number in numbers[kind.of]}

    def holds(self, kind: Kind, number: str, name: str) -> bool:
        """Return whether an entry of such a key belongs to the slice."""
        word, which = (kind.of, number) if kind.of else (kind.entry, name)
        if kind.name == "student":
            word, which = "section", name.partition(":")[2]
        known = {"section": self.sections, "pool": self.pools, "window": self.windows}
        return word not in known or (which.isdecimal() and int(which) in known[word])


def after(term: int, last: int) -> list[int]:
    """Return the next sections of a term, by number; empty after the last."""
    with transaction() as session:
        catalogued = select(Section.id).where(Section.term_id == term, Section.id > last)
        counted = select(SectionSeats.section_id).where(
            SectionSeats.term_id == term, SectionSeats.section_id > last
        )
        known = set(session.scalars(catalogued.union(counted).order_by("id").limit(AT_ONCE)))
    listed = ledger_keys.sections_of(backend().redis, term)
    known |= {section for section in listed if section > last}
    return sorted(known)[:AT_ONCE]


def around(term: int, sections: Iterable[int]) -> Slice:
    """Return the slice of these sections."""
    with transaction() as session:
        shared = session.execute(SHARES, {"term": term}).all()
        known = set(session.scalars(select(Window.id).where(Window.term_id == term)))
    known |= {window.id for window in backend().ledger.windows(term)}
    # Pools that only the ledger knows belong to every slice.
    listed = ledger_keys.pools_of(backend().redis, term)
    reached, pools, more = set(sections), listed - {pool for _, pool in shared}, True
    while more:
        more_pools = {pool for section, pool in shared if section in reached} - pools
        pools |= more_pools
        more = bool(more_pools)
        reached |= {section for section, pool in shared if pool in pools}
    return Slice(term, frozenset(reached), frozenset(pools), frozenset(known))


def compare(term: int, sections: Iterable[int]) -> list[Difference]:
    """Return what differs in the slice of these sections; raise Behind. Claims may go on."""
    sections = set(sections)
    for _ in range(TRIES):
        part = around(term, sections)
        students = _students(part)
        taken = ledger_keys.read_keys(backend().redis, term, part.keys(students))
        unrecordable(term)  # reported elsewhere
        if part == around(term, sections):
            break  # otherwise another section now shares their seats, or a window was added
    return _differences(part, students, taken)


def _differences(part: Slice, students: set[int], taken: list[Step]) -> list[Difference]:
    term, image, at = part.term, Image(), 0

    def advance(through: int) -> None:
        nonlocal at
        _fold(session, part, image, at, through)
        at = max(at, through)
        image.drops = _drops(session, term, students, through)

    with transaction() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        known, last = checkpoint(term, session), taken[-1][0]
        if last > known:
            raise Behind(f"{last - known} events of term {term} are not recorded yet")
        reserves = taken[0][1]["reserves"].items()
        image.elsewhere = {due for each, due in reserves if int(each) not in part.sections}
        found = list(of_ledger(image, taken, advance, part.holds))
        advance(known)
        found += of_read_models(
            image, read_models.load_some(session, term, part.sections, part.windows)
        )
        found += idempotency.differences(session, term, students)
        return found + list(of_log(image))


def _drops(
    session: Session, term: int, students: Iterable[int], through: int
) -> dict[int, Counter[str]]:
    """Return the drops of students by day, in any section."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    asked = {"term": term, "through": through, "students": list(students)}
    for student, day, count in session.execute(DROPS, asked):
        found[student][day] = count
    return found


def events(session: Session, part: Slice, since: int, through: int) -> Iterator[Event]:
    """Yield the events of a slice after event `since`, through `through`."""
    found = session.execute(
        select(*EVENT_COLUMNS)
        .where(
            LoggedEvent.term_id == part.term, LoggedEvent.seq > since, LoggedEvent.seq <= through
        )
        .where(LoggedEvent.aggregate.in_(part.aggregates))
        .order_by(LoggedEvent.seq)
    )
    for row in found:
        yield Event(*row)


def _fold(session: Session, part: Slice, state: TermState, since: int, through: int) -> None:
    for fact in events(session, part, since, through):
        try:
            apply(state, fact)
        except (UnknownEvent, LookupError, TypeError) as error:
            state.contradictions.append((fact.seq, f"{UNREADABLE}: {error}"))


def _students(part: Slice) -> set[int]:
    """Return who has or had a seat or position there, by the read models or the ledger."""
    held = select(Enrollment.student_id).where(Enrollment.section_id.in_(part.sections))
    waited = select(WaitlistEntry.student_id).where(WaitlistEntry.section_id.in_(part.sections))
    with transaction() as session:
        known = set(session.scalars(held.union(waited)))
    return known | ledger_keys.students(backend().redis, part.term, part.sections)
