"""The continuous audit: a part of each term every few minutes, all of it in rounds.

A difference raises an alarm. Every later part checks it again until it agrees.
"""

import logging
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic
from typing import Any

from sqlalchemy import func, or_, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.recorder.consistency import partial_audit
from portal.recorder.consistency.audit import unrecordable
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.partial_audit import OF_SECTION, Behind
from portal.recorder.models import ContinuousAudit
from portal.recorder.subscribers import subscribers

SECONDS = 20.0  # for one part
KEPT = 200  # differences stored in full
MISSING = 20  # missing events listed by number

NUMBER = text("""
    SELECT seq, (SELECT count(*) FROM events WHERE term_id = :term AND events.seq <= point.seq)
    FROM checkpoints point WHERE term_id = :term
""")
LOST = text(f"""
    SELECT number FROM checkpoints point, generate_series(1, point.seq) number
    WHERE point.term_id = :term
      AND NOT EXISTS (SELECT FROM events WHERE term_id = :term AND seq = number)
    LIMIT {MISSING}
""")  # noqa: S608 - a constant

Place = tuple[str, str]  # where, and what

log = logging.getLogger("fairseat.alarm")


def due(session: Session) -> list[int]:
    """Return the terms whose next part is due."""
    every = timedelta(seconds=backend().settings.reconcile)
    found = (
        select(Checkpoint.term_id)
        .join(Term, Term.id == Checkpoint.term_id)
        .outerjoin(ContinuousAudit, ContinuousAudit.term_id == Checkpoint.term_id)
        .where(Checkpoint.seq > 0, Term.deleted_at.is_(None))
        .where(or_(ContinuousAudit.at.is_(None), ContinuousAudit.at < func.now() - every))
    )
    return list(session.scalars(found))


@dataclass
class Part:
    """A part of the audit in progress: how far it is, and what differs.

    `again` holds sections that differed and are not yet checked again; `known` holds their stored
    differences. `told` is the number already reported.
    """

    term: int
    cursor: int
    again: set[int]
    known: list[Difference]
    told: int  # how many differences
    found: dict[Place, Difference] = field(default_factory=dict)
    sections: set[int] = field(default_factory=set)  # sections with differences

    def add(self, differences: Iterable[Difference], among: Collection[int] = ()) -> None:
        """Store the differences of these sections."""
        for each in differences:
            self.found[each["where"], each["what"]] = each
            self.sections |= _named(each) or _whole(each, among)


def go_on(term: int, seconds: float = SECONDS) -> list[Difference]:
    """Compare known differences and the next part of a term; return what differs.

    Progress is stored after each slice, so the next part continues there even if this one fails.
    """
    part, until = _begin(term), monotonic() + seconds
    part.add([*unrecordable(term), *_missing(term)])
    try:
        _again(part)
        _note(part)
        _onward(part, until)
    except Behind as behind:
        log.warning("The comparison waits for the recorder: %s", behind)
        _note(part)
    return list(part.found.values())


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
        cursor, sections, known, told = session.execute(taken.returning(*so_far)).one()
    return Part(term, cursor, set(sections), known, told)


def _again(part: Part) -> None:
    """Compare again the sections that differed before."""
    while part.again:
        sections = sorted(part.again)[: partial_audit.AT_ONCE]
        part.add(_compared(part.term, sections), sections)
        part.again.difference_update(sections)


def _onward(part: Part, until: float) -> None:
    """Compare from the cursor until time runs out or the round ends; the next starts at 0."""
    while sections := partial_audit.after(part.term, part.cursor):
        part.add(_compared(part.term, sections), sections)
        part.cursor = sections[-1]
        _note(part)
        if monotonic() > until:
            return
    part.cursor = 0
    _note(part, whole_at=func.now())


def _compared(term: int, sections: Iterable[int]) -> list[Difference]:
    # A difference that appears only once was read in the middle of a change.
    return partial_audit.compare(term, sections) and partial_audit.compare(term, sections)


def _missing(term: int) -> list[Difference]:
    """Return events that the log has lost."""
    with transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = '2min'"))
        through, there = session.execute(NUMBER, {"term": term}).one()
        lost = session.scalars(LOST, {"term": term}).all() if there < through else ()
    return [{"where": "event log", "what": f"event {each}", "log": "missing"} for each in lost]


def _note(part: Part, **more: Any) -> None:
    """Store the progress and the differences; report the first difference."""
    found, count = list(part.found.values()), len(part.found)
    if part.again:  # these sections could not be checked again
        found += [each for each in part.known if (each["where"], each["what"]) not in part.found]
        count = max(len(found), part.told)
    row = {
        "at": func.now(),
        "cursor": part.cursor,
        "found": count,
        "differences": found[:KEPT],
        "sections": sorted(part.sections | part.again),
    } | more
    noted = update(ContinuousAudit).where(ContinuousAudit.term_id == part.term).values(row)
    with transaction() as session:
        session.execute(noted)
        if found and not part.told:
            _say(session, part.term, found)
    part.told = count


def _named(difference: Difference) -> set[int]:
    """Return the section that a difference names, if it names one."""
    if difference["where"] == "section_seats":
        return {int(difference["what"].split()[1])}
    return set(map(int, OF_SECTION.findall(difference["what"])[:1]))


def _whole(difference: Difference, among: Collection[int]) -> set[int]:
    """Return the sections to check again for a difference.

    Any section shows a difference of windows.
    """
    windows = difference["where"] in {"windows", "ledger windows"}
    return {min(among)} if among and windows else set(among)


def _say(session: Session, term: int, found: list[Difference]) -> None:
    name = session.get_one(Term, term).name
    for subscriber in subscribers.differences_found:
        subscriber(session, term, len(found))
    log.critical(
        "ALARM reconcile: %s differences in %s, the first in %s: %s. See `fairseat audit --term`.",
        len(found),
        name,
        found[0]["where"],
        found[0]["what"],
    )
