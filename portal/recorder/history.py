"""What happened to a student, newest first, a page at a time."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, ScalarSelect, not_, or_, select, tuple_
from sqlalchemy.orm import aliased

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.recorder import journal
from portal.recorder.checkpoint import recorded
from portal.recorder.fact import Fact
from portal.recorder.models import AS_FACT, Event
from portal.recorder.receipts import Receipt

PAGE = 30
FRESH = 200  # events of the journal that may not have been recorded yet
REFUSED = ("refused", "passed_over")
TOLD = (*REFUSED, "enrolled", "waitlisted", "swap_planned", "dropped", "left", "promoted")

Place = tuple[int, int]  # term and event
ORDER = (Event.occurred_at, Event.term_id, Event.seq)


@dataclass(frozen=True)
class Page:
    """Receipts, the newest first; `more` where there are older ones."""

    receipts: list[Receipt]
    more: bool


def history(
    student: int, term: int | None = None, *, before: Place | None = None, refused: bool = False
) -> Page:
    """A student's receipts of a term, or of all, older than `before`; or the `refused` ones alone.

    A swap is one receipt. What is still being recorded is among the first of a term.
    """
    names = REFUSED if refused else TOLD
    # The journal first: what is recorded by the time that the log is asked is in the log.
    fresh = [] if before or term is None else _fresh(student, term, names)
    logged = _logged(student, term, before, names)
    known = {each.fact.seq for each in logged}
    late = [each for each in fresh if each.fact.seq not in known]
    found = sorted(
        [*late, *logged], key=lambda each: (each.at, each.term, each.fact.seq), reverse=True
    )
    return Page(found[:PAGE], more=len(found) > PAGE)


def _fresh(student: int, term: int, names: tuple[str, ...]) -> list[Receipt]:
    """The student's latest receipts that have not been recorded yet."""
    with suppress(LedgerUnavailable):
        return [
            Receipt(term, fact, recorded=False)
            for fact in journal.latest(backend().redis, term, FRESH, recorded(term))
            if fact.payload.get("student") == student
            and fact.name in names
            and not ("swap" in fact.payload and fact.name == "dropped")
        ]
    return []


def _logged(
    student: int, term: int | None, before: Place | None, names: tuple[str, ...]
) -> list[Receipt]:
    """One more than a page of what has been recorded."""
    found = (
        select(Event.term_id, *AS_FACT)
        .where(Event.student_id == student, Event.name.in_(names), _not_half_a_swap())
        .order_by(*(each.desc() for each in ORDER))
        .limit(PAGE + 1)
    )
    if term is None:
        found = found.join(Term, Term.id == Event.term_id).where(Term.deleted_at.is_(None))
    else:
        found = found.where(Event.term_id == term)
    if before:
        found = found.where(tuple_(*ORDER) < _moment(before))
    with transaction() as session:
        return [Receipt(row[0], Fact(*row[1:]), recorded=True) for row in session.execute(found)]


def _moment(place: Place) -> ScalarSelect[Any]:
    """Where an event lies in the order of time, across terms."""
    at = aliased(Event)
    parts = (at.occurred_at, at.term_id, at.seq)
    return select(*parts).where(at.term_id == place[0], at.seq == place[1]).scalar_subquery()


def _not_half_a_swap() -> ColumnElement[bool]:
    """Not the seat that went for another: the event of the other one tells of both."""
    return or_(Event.name != "dropped", not_(Event.payload.has_key("swap")))
