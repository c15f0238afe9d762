"""Invariant 5: the ledger, the event log and the read models tell of the same term."""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.db import transaction
from portal.record import picture, snapshot, tables
from portal.record.checkpoint import recorded
from portal.record.differences import Difference, of_ledger, of_log, of_read_models
from portal.record.drain import drain
from portal.record.fold import Tell, fold, nobody, strides
from portal.record.journal import JournalGap, last_seq
from portal.record.models import Enrollment, SectionSeats, WaitlistPlace
from portal.record.picture import Picture
from portal.record.project import State, UnknownEvent
from portal.record.terms import named

PATIENCE = 20.0  # seconds without getting on: PostgreSQL ends a drainer that has frozen sooner
LOST, UNREAD = "journal", "journal entry"

Report = dict[str, Any]


def audit(name: str = "", keep: Callable[[int, Report], None] | None = None) -> Report:
    """What differs in the term of that name, or in every term; raises LookupError.

    The report of each is given to `keep`.
    """
    reports = []
    for number, term in named(name):
        report = audit_term(number)
        if keep:
            keep(number, report)
        reports.append({"term": term} | report)
    return {"clean": all(report["clean"] for report in reports), "terms": reports}


def audit_term(term: int, tell: Tell = nobody) -> Report:
    """What differs in a term; claims may go on meanwhile. Tells how far it has come.

    The ledger is not compared where it is ahead of what can be recorded: then it says by how
    many events (`unrecorded`), and that is no difference, but not `clean` either.
    """
    tell("recording", 0, 0)
    broken = unrecordable(term)
    tell("reading", 0, 0)
    sections, students = _known(term)
    seq, ledger = snapshot.take(backend().redis, term, sections, students)
    broken = broken or unrecordable(term)
    with transaction() as session:
        # One view of the log and of the read models, however far they have come meanwhile.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        compared = _compare(session, term, (seq, ledger), students, tell)
    differences = [*broken, *compared.differences]
    return {
        "events": compared.events,
        "unrecorded": compared.unrecorded,
        "differences": differences,
        "clean": not differences and not compared.unrecorded,
    }


@dataclass(frozen=True)
class _Compared:
    events: int
    unrecorded: int
    differences: list[Difference]


def _compare(
    session: Session, term: int, taken: tuple[int, Picture], students: set[int], tell: Tell
) -> _Compared:
    """The log as of event `seq` against the ledger of then, and all of it with the read models.

    Of a ledger that is ahead of the log nothing can be told.
    """
    known, (seq, ledger) = recorded(term, session), taken
    common, unrecorded = min(seq, known), max(0, seq - known)
    state, events = State(), 0
    for after, through in strides(0, common):
        tell("comparing", after, known)
        events += fold(session, term, state, after, through)
    due = picture.of_log(state, students)
    differences = [] if unrecorded else list(of_ledger(ledger, due))
    events += fold(session, term, state, common, known)
    differences += of_read_models(state, tables.load_all(session, term))
    differences += of_log(state)
    return _Compared(events, unrecorded, differences)


def catch_up(term: int) -> bool:
    """Have recorded what the journal holds now; False where the recorder does not get on.

    Raises JournalGap or UnknownEvent where it can never be.
    """
    through, known, until = last_seq(backend().redis, term), 0, 0.0
    while True:
        drain(term, seconds=0)
        before, known = known, recorded(term)
        if known >= through:
            return True
        if known > before or not until:
            until = monotonic() + PATIENCE
        elif monotonic() > until:
            return False


def unrecordable(term: int) -> list[Difference]:
    """Have the journal recorded; gives what stands in the way of that for good."""
    try:
        catch_up(term)
    except JournalGap as gap:
        return [{"where": LOST, "what": str(gap)}]
    except UnknownEvent as event:
        return [{"where": UNREAD, "what": str(event)}]
    return []


def _known(term: int) -> tuple[set[int], set[int]]:
    """The sections and students that the read models name."""
    with transaction() as session:
        sections = session.scalars(
            select(SectionSeats.section_id).where(SectionSeats.term_id == term)
        ).all()
        enrolled = select(Enrollment.student_id).where(Enrollment.term_id == term)
        waited = select(WaitlistPlace.student_id).where(WaitlistPlace.term_id == term)
        students = session.scalars(enrolled.union(waited)).all()
    return set(sections), set(students)
