"""The continuous audit: a part of each term every few minutes, all sections in rounds.

A difference raises an alarm. Every later part checks it again until it agrees.
"""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any

from sqlalchemy import Connection, Interval, bindparam, func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.recorder import signals
from portal.recorder.consistency import partial_audit
from portal.recorder.consistency.audit import unrecordable
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.partial_audit import OF_SECTION, Behind
from portal.recorder.models import ContinuousAudit

SECONDS = 20.0  # for the sections of one part
KEPT = 200  # differences stored in full
MOST_LISTED = 20  # missing events listed by number

COUNT_EVENTS = text("""
    SELECT seq, (SELECT count(*) FROM events WHERE term_id = :term AND events.seq <= point.seq)
    FROM checkpoints point WHERE term_id = :term
""")
MISSING_EVENTS = text(f"""
    SELECT number FROM checkpoints point, generate_series(1, point.seq) number
    WHERE point.term_id = :term
      AND NOT EXISTS (SELECT FROM events WHERE term_id = :term AND seq = number)
    LIMIT {MOST_LISTED}
""")  # noqa: S608 - a constant

DUE = (
    select(Checkpoint.term_id)
    .join(Term, Term.id == Checkpoint.term_id)
    .outerjoin(ContinuousAudit, ContinuousAudit.term_id == Checkpoint.term_id)
    .where(Checkpoint.seq > 0, Term.deleted_at.is_(None))
    .where(
        or_(
            ContinuousAudit.at.is_(None),
            ContinuousAudit.at < func.now() - bindparam("every", type_=Interval),
        )
    )
)

log = logging.getLogger("fairseat.alarm")


def due(connection: Connection) -> list[int]:
    """Return the terms whose next part is due."""
    every = timedelta(seconds=backend().settings.reconcile)
    return list(connection.scalars(DUE, {"every": every}))


def audit_next_part(term: int, seconds: float = SECONDS) -> list[Difference]:
    """Compare waiting rooms, known differences and the next part of a term; return what differs.

    Progress is stored after each slice, so the next part continues there even if this one fails.
    """
    part = _begin(term)
    part.add([*unrecordable(term), *_missing(term)])
    try:
        part.compare_rooms()
        until = monotonic() + seconds
        while part.recheck:
            sections = sorted(part.recheck)[: partial_audit.AT_ONCE]
            part.compare(sections)
            part.recheck.difference_update(sections)
        part.store()
        while sections := partial_audit.next_sections(term, part.cursor):
            part.compare(sections)
            part.cursor = sections[-1]
            part.store()
            if monotonic() > until:
                break
        else:  # a round is complete
            part.cursor = 0
            part.store(whole_at=func.now())
    except Behind as behind:
        log.warning("The continuous audit waits for the recorder: %s", behind)
        part.store()
    return list(part.found.values())


@dataclass
class Part:
    """A part of the audit in progress: how far it is, and what differs."""

    term: int
    cursor: int
    recheck: set[int]  # sections that differed and are not yet checked again
    earlier: list[Difference]  # as stored before
    reported: int  # how many differences
    found: dict[tuple[str, str], Difference] = field(default_factory=dict)  # by where and what
    sections: set[int] = field(default_factory=set)  # sections with differences

    def compare(self, sections: Collection[int]) -> None:
        """Compare these sections and add what differs."""
        # A difference that appears only once was read in the middle of a change.
        if partial_audit.compare(self.term, sections):
            self.add(partial_audit.compare(self.term, sections), sections)

    def compare_rooms(self) -> None:
        """Compare all waiting rooms: once in a round, and in every part while they differ."""
        if self.cursor and all(each["where"] not in partial_audit.ROOMS for each in self.earlier):
            return
        if partial_audit.compare_rooms(self.term):
            self.add(partial_audit.compare_rooms(self.term))

    def add(self, differences: Iterable[Difference], among: Collection[int] = ()) -> None:
        """Add the differences of these sections."""
        for each in differences:
            self.found[each["where"], each["what"]] = each
            self.sections |= _sections(each, among)

    def store(self, **more: Any) -> None:
        """Store the progress and the differences; report the first difference."""
        found, count = list(self.found.values()), len(self.found)
        if self.recheck:  # these sections could not be checked again
            found += [
                each for each in self.earlier if (each["where"], each["what"]) not in self.found
            ]
            count = max(len(found), self.reported)
        row = {
            "at": func.now(),
            "cursor": self.cursor,
            "found": count,
            "differences": found[:KEPT],
            "sections": sorted(self.sections | self.recheck),
        } | more
        with transaction() as session:
            mine = update(ContinuousAudit).where(ContinuousAudit.term_id == self.term)
            session.execute(mine.values(row))
            if found and not self.reported:
                _report(session, self.term, found)
        self.reported = count


def _begin(term: int) -> Part:
    """Claim the turn, so that no other worker starts before the next part is due."""
    begun = insert(ContinuousAudit).values(term_id=term, at=func.now(), cursor=0, found=0)
    begun = begun.values(differences=[], sections=[])
    taken = begun.on_conflict_do_update(index_elements=["term_id"], set_={"at": func.now()})
    so_far = (
        ContinuousAudit.cursor,
        ContinuousAudit.sections,
        ContinuousAudit.differences,
        ContinuousAudit.found,
    )
    with transaction() as session:
        cursor, sections, known, reported = session.execute(taken.returning(*so_far)).one()
    return Part(term, cursor, set(sections), known, reported)


def _missing(term: int) -> list[Difference]:
    """Return events that the log has lost."""
    with transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = '2min'"))
        through, there = session.execute(COUNT_EVENTS, {"term": term}).one()
        lost = session.scalars(MISSING_EVENTS, {"term": term}).all() if there < through else ()
    return [{"where": "event log", "what": f"event {each}", "log": "missing"} for each in lost]


def _sections(difference: Difference, among: Collection[int]) -> set[int]:
    """Return the sections to check again for a difference found among these sections."""
    where, what = difference["where"], difference["what"]
    if where == "section_seats":
        return {int(what.split()[1])}
    if named := OF_SECTION.findall(what):
        return {int(named[0])}
    # Any section shows a difference of windows.
    return {min(among)} if among and where in {"windows", "ledger windows"} else set(among)


def _report(session: Session, term: int, found: list[Difference]) -> None:
    name = session.get_one(Term, term).name
    signals.differences_found.send(session, term, len(found))
    log.critical(
        "ALARM reconcile: %s differences in %s, the first in %s: %s. See `fairseat audit --term`.",
        len(found),
        name,
        found[0]["where"],
        found[0]["what"],
    )
