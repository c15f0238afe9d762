"""Whose records a visitor may see, and as much of them as is theirs to see."""

from dataclasses import dataclass, replace

from flask import abort

from portal.api import known
from portal.catalog.term_catalog import TermCatalog, catalog_of, live_terms
from portal.ledger.types import HeldSeat, Standing, WaitlistPosition
from portal.people.profile import profile
from portal.web.http.access import visitor


@dataclass(frozen=True)
class Record:
    """What a student has in a term, as far as the visitor may see it."""

    student: int
    offered: TermCatalog
    standing: Standing


def records(student: int, term: int | None) -> list[Record]:
    """A student's records, of one term or of all: one's own, or those that one may look into.

    404 for everyone else, who shall not learn whether there is such a student. Teachers see what
    concerns their classes, admins everything.
    """
    who = visitor()
    found = [_record(each, student) for each in ([term] if term else _terms())]
    if student == who.student_id or ("admin" in who.roles and _exists(student)):
        return found
    taught = [_of_teacher(each, who.teacher_ids) for each in found]
    if not any(each.standing != Standing() for each in taught):
        abort(404)
    return taught


def _terms() -> list[int]:
    return [term.id for term in live_terms()]


def _record(term: int, student: int) -> Record:
    return Record(student, catalog_of(term), known.standing(term, student))


def _exists(student: int) -> bool:
    try:
        return bool(profile(student))
    except LookupError:
        return False


def _of_teacher(record: Record, teachers: frozenset[int]) -> Record:
    """Those of its seats and places that are in classes of the teacher, and no word of others."""

    def taught(place: HeldSeat | WaitlistPosition) -> bool:
        card = record.offered.section(place.section)
        return card is not None and not teachers.isdisjoint(card.teacher_ids)

    enrolled = tuple(filter(taught, record.standing.enrolled))
    waiting = filter(taught, record.standing.waiting)
    alone = tuple(replace(each, instead=0, reasons=()) for each in waiting)
    return Record(record.student, record.offered, Standing(enrolled, alone))
