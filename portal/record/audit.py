"""Invariant 5: the ledger, the event log and the read models tell of the same term."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from time import monotonic
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.db import transaction
from portal.record import picture, snapshot, tables
from portal.record.drain import drain
from portal.record.fold import fold
from portal.record.journal import JournalGap, last_seq
from portal.record.models import Checkpoint, Enrollment, SectionSeats, WaitlistPlace
from portal.record.picture import Picture
from portal.record.project import State, UnknownEvent

PATIENCE = 20.0  # seconds: PostgreSQL ends a drainer that has frozen sooner

Difference = dict[str, Any]


def audit(name: str = "") -> dict[str, Any]:
    """What differs in the term of that name, or in every term; raises LookupError."""
    with transaction() as session:
        terms = session.execute(
            select(Term.id, Term.name).where(Term.deleted_at.is_(None)).order_by(Term.id)
        ).all()
    chosen = [term for term in terms if name in {"", term.name}]
    if name and not chosen:
        raise LookupError(f"There is no term named {name!r}.")
    reports = [{"term": term.name} | audit_term(term.id) for term in chosen]
    return {"clean": all(report["clean"] for report in reports), "terms": reports}


def audit_term(term: int) -> dict[str, Any]:
    """What differs in a term; claims may go on meanwhile."""
    broken = _drain(term, through=last_seq(backend().redis, term))
    sections, students = _known(term)
    seq, ledger = snapshot.take(backend().redis, term, sections, students)
    broken = broken or _drain(term, through=seq)
    with transaction() as session:
        # One view of the log and of the read models, however far they have come meanwhile.
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        compared = _compare(session, term, seq, students, ledger)
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
    session: Session, term: int, seq: int, students: set[int], ledger: Picture
) -> _Compared:
    """The log as of event `seq` against the ledger of then, and all of it with the read models."""
    recorded = _recorded(session, term)
    common = min(seq, recorded)
    state = State()
    events = fold(session, term, state, 0, common)
    differences = list(_of_ledger(ledger, picture.of_log(state, students)))
    events += fold(session, term, state, common, recorded)
    differences += _of_read_models(state, tables.load_all(session, term))
    differences += [
        {"where": "event log", "what": f"event {event}", "log": wrong}
        for event, wrong in state.contradictions
    ]
    return _Compared(events, seq - common, differences)


def _drain(term: int, through: int) -> list[Difference]:
    """Have the journal recorded; gives what stands in the way for good."""
    until = monotonic() + PATIENCE
    try:
        while monotonic() < until:
            drain(term, seconds=0)
            with transaction() as session:
                if _recorded(session, term) >= through:
                    break
    except (JournalGap, UnknownEvent) as stop:
        return [{"where": "journal", "what": str(stop)}]
    return []


def _recorded(session: Session, term: int) -> int:
    return session.scalar(select(Checkpoint.seq).where(Checkpoint.term_id == term)) or 0


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


def _of_ledger(ledger: Picture, log: Picture) -> Iterator[Difference]:
    for where, what in sorted(ledger.keys() | log.keys()):
        found, due = ledger.get((where, what)), log.get((where, what))
        if found != due:
            yield {"where": f"ledger {where}", "what": what, "ledger": found, "log": due}


def _of_read_models(log: State, found: State) -> Iterator[Difference]:
    for table, due, rows in (
        ("section_seats", log.seats, found.seats),
        ("enrollments", log.enrollments, found.enrollments),
        ("waitlist_places", log.places, found.places),
        ("windows", log.windows, found.windows),
    ):
        yield from _of_table(table, due, rows)


def _of_table(table: str, due: dict[Any, Any], rows: dict[Any, Any]) -> Iterator[Difference]:
    for key in sorted(due.keys() | rows.keys()):
        if due.get(key) != rows.get(key):
            yield {
                "where": table,
                "what": picture.of_pair(*key) if isinstance(key, tuple) else f"id {key}",
                "log": _told(due.get(key)),
                "read_model": _told(rows.get(key)),
            }


def _told(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """The row with its times as text."""
    return row and {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }
