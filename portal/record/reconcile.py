"""The standing comparison: a part of each term every few minutes, and all of it in rounds.

What differs raises an alarm and is looked at again with every part, until it agrees.
"""

import logging
from collections.abc import Iterable
from datetime import timedelta
from time import monotonic

from sqlalchemy import func, or_, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.db import transaction
from portal.notices.alerts import alert
from portal.people.models import Account
from portal.record import slices
from portal.record.audit import unrecordable
from portal.record.differences import Difference
from portal.record.models import Checkpoint, Reconciled
from portal.record.slices import OF_SECTION

SECONDS = 20.0  # for one part
KEPT = 200  # differences, and sections that are looked at again
MISSING = 20  # events that are named

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

log = logging.getLogger("fairseat.alarm")


def due(session: Session) -> list[int]:
    """Terms whose next part is due."""
    every = timedelta(seconds=backend().settings.reconcile)
    found = (
        select(Checkpoint.term_id)
        .join(Term, Term.id == Checkpoint.term_id)
        .outerjoin(Reconciled, Reconciled.term_id == Checkpoint.term_id)
        .where(Checkpoint.seq > 0, Term.deleted_at.is_(None))
        .where(or_(Reconciled.at.is_(None), Reconciled.at < func.now() - every))
    )
    return list(session.scalars(found))


def go_on(term: int, seconds: float = SECONDS) -> list[Difference]:
    """Compare the next part of a term, and what differed before; gives what differs."""
    with transaction() as session:
        before = session.get(Reconciled, term) or Reconciled(cursor=0, found=0, sections=[])
        session.expunge_all()
    _begin(term)
    until = monotonic() + seconds
    found = unrecordable(term) + _missing(term) + _again(term, before.sections)
    cursor, more = _onward(term, before.cursor, until)
    found += [each for each in more if each not in found]
    _note(term, cursor, found, begins=not before.found)
    return found


def _begin(term: int) -> None:
    """Take the turn, so that nobody else is called to it before the next is due."""
    begun = insert(Reconciled).values(term_id=term, at=func.now(), cursor=0, found=0)
    begun = begun.values(differences=[], sections=[])
    taken = begun.on_conflict_do_update(index_elements=["term_id"], set_={"at": func.now()})
    with transaction() as session:
        session.execute(taken)


def _again(term: int, sections: Iterable[int]) -> list[Difference]:
    """What differs still of what differed."""
    return _compared(term, sections) if sections else []


def _onward(term: int, cursor: int, until: float) -> tuple[int, list[Difference]]:
    """From a section on, until it is late or the round is done: the next begins at 0."""
    found: list[Difference] = []
    while sections := slices.after(term, cursor):
        found += [each for each in _compared(term, sections) if each not in found]
        cursor = sections[-1]
        if monotonic() > until:
            return cursor, found
    return 0, found


def _compared(term: int, sections: Iterable[int]) -> list[Difference]:
    # What differs but once was caught in the middle of a change.
    return slices.compare(term, sections) and slices.compare(term, sections)


def _missing(term: int) -> list[Difference]:
    """Events that the log has lost."""
    with transaction() as session:
        session.execute(text("SET LOCAL statement_timeout = '2min'"))
        through, there = session.execute(NUMBER, {"term": term}).one()
        lost = session.scalars(LOST, {"term": term}).all() if there < through else ()
    return [{"where": "event log", "what": f"event {each}", "log": "missing"} for each in lost]


def _note(term: int, cursor: int, found: list[Difference], *, begins: bool) -> None:
    """Keep what was found; where it is the first, say it."""
    sections = {int(number) for each in found for number in _named(each)}
    row = {
        "at": func.now(),
        "cursor": cursor,
        "found": len(found),
        "differences": found[:KEPT],
        "sections": sorted(sections)[:KEPT],
    } | ({} if cursor else {"whole_at": func.now()})
    wanted = insert(Reconciled).values(term_id=term, **row)
    with transaction() as session:
        session.execute(wanted.on_conflict_do_update(index_elements=["term_id"], set_=row))
        if found and begins:
            _say(session, term, found)


def _named(difference: Difference) -> list[str]:
    if difference["where"] == "section_seats":
        return [difference["what"].split()[1]]
    return OF_SECTION.findall(difference["what"])[:1]


def _say(session: Session, term: int, found: list[Difference]) -> None:
    name = session.get_one(Term, term).name
    for admin in session.scalars(select(Account.id).where(Account.is_admin)):
        alert(session, admin, "differences", term=name, count=str(len(found)))
    log.critical(
        "ALARM reconcile: %s differences in %s, the first in %s: %s. See `fairseat audit --term`.",
        len(found),
        name,
        found[0]["where"],
        found[0]["what"],
    )
