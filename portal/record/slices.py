"""A few sections of a term at a time: their events, their part of the ledger, their rows."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Section
from portal.db import transaction
from portal.record import picture, snapshot, tables
from portal.record.audit import unrecordable
from portal.record.checkpoint import recorded
from portal.record.differences import Difference, of_ledger, of_log, of_read_models
from portal.record.fact import Fact
from portal.record.fold import UNREADABLE
from portal.record.models import AS_FACT, Enrollment, Event, SectionSeats, WaitlistPlace
from portal.record.picture import Picture
from portal.record.project import State, UnknownEvent, apply
from portal.windows.models import Window

AT_ONCE = 50  # sections: the ledger is read in one step, which holds up claims for so long
TRIES = 5
SHARES = text("""
    SELECT DISTINCT (payload ->> 'section')::int, (payload ->> 'pool')::int FROM events
    WHERE term_id = :term AND name = 'section_set' AND payload ? 'pool'
""")
OF_SECTION = re.compile(r"(?:section |\b[ecw]:)(\d+)")


class Behind(Exception):  # noqa: N818  a state of the world, not a mistake
    """The ledger is ahead of what can be recorded, so nothing can be told of it."""


@dataclass(frozen=True)
class Slice:
    """Sections with all that ever shared seats with them, the pools of these, and all windows."""

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

    def holds(self, where: str, what: str) -> bool:
        """Whether an entry of a picture belongs to it."""
        if where in {"pool", "windows"}:
            return int(what.split()[1]) in (self.pools if where == "pool" else self.windows)
        found = OF_SECTION.search(what)
        return bool(found and int(found[1]) in self.sections)


def after(term: int, last: int) -> list[int]:
    """The next sections of a term, by number; none behind the last."""
    with transaction() as session:
        catalogued = select(Section.id).where(Section.term_id == term, Section.id > last)
        counted = select(SectionSeats.section_id).where(
            SectionSeats.term_id == term, SectionSeats.section_id > last
        )
        known = set(session.scalars(catalogued.union(counted).order_by("id").limit(AT_ONCE)))
    listed = snapshot.sections_of(backend().redis, term)
    known |= {section for section in listed if section > last}
    return sorted(known)[:AT_ONCE]


def around(term: int, sections: Iterable[int]) -> Slice:
    """The slice of these sections."""
    with transaction() as session:
        shared = session.execute(SHARES, {"term": term}).all()
        known = set(session.scalars(select(Window.id).where(Window.term_id == term)))
    known |= {window.id for window in backend().ledger.windows(term)}
    reached, pools, more = set(sections), set[int](), True
    while more:
        more_pools = {pool for section, pool in shared if section in reached} - pools
        pools |= more_pools
        more = bool(more_pools)
        reached |= {section for section, pool in shared if pool in pools}
    return Slice(term, frozenset(reached), frozenset(pools), frozenset(known))


def compare(term: int, sections: Iterable[int]) -> list[Difference]:
    """What differs in the slice of these sections; claims may go on. Raises Behind."""
    sections = set(sections)
    for _ in range(TRIES):
        part = around(term, sections)
        students = _students(part)
        seq, ledger = snapshot.take(backend().redis, term, part.sections, students, only=True)
        unrecordable(term)  # which is told elsewhere
        if part == around(term, sections):
            break  # else another section shares their seats by now, or there is another window
    return _differences(part, students, (seq, ledger))


def _differences(part: Slice, students: set[int], taken: tuple[int, Picture]) -> list[Difference]:
    term, (seq, ledger) = part.term, taken
    with transaction() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        state, known = State(), recorded(term, session)
        if seq > known:
            raise Behind(f"{seq - known} events of term {term} are not recorded yet")
        _fold(session, part, state, 0, seq)
        due = _within(part, picture.of_log(state, students))
        found = list(of_ledger(_within(part, ledger), due))
        _fold(session, part, state, seq, known)
        found += of_read_models(state, tables.load_some(session, term, part.sections, part.windows))
        return found + list(of_log(state))


def events(session: Session, part: Slice, since: int, through: int) -> Iterator[Fact]:
    """What happened in a slice behind event `since`, until `through`."""
    found = session.execute(
        select(*AS_FACT)
        .where(Event.term_id == part.term, Event.seq > since, Event.seq <= through)
        .where(Event.aggregate.in_(part.aggregates))
        .order_by(Event.seq)
    )
    for row in found:
        yield Fact(*row)


def _fold(session: Session, part: Slice, state: State, since: int, through: int) -> None:
    for fact in events(session, part, since, through):
        try:
            apply(state, fact)
        except (UnknownEvent, LookupError, TypeError) as error:
            state.contradictions.append((fact.seq, f"{UNREADABLE}: {error}"))


def _within(part: Slice, whole: Picture) -> Picture:
    return {key: value for key, value in whole.items() if part.holds(*key)}


def _students(part: Slice) -> set[int]:
    """Who has or had a seat or place there, by the read models or by the ledger."""
    held = select(Enrollment.student_id).where(Enrollment.section_id.in_(part.sections))
    waited = select(WaitlistPlace.student_id).where(WaitlistPlace.section_id.in_(part.sections))
    with transaction() as session:
        known = set(session.scalars(held.union(waited)))
    return known | snapshot.students(backend().redis, part.term, part.sections)
