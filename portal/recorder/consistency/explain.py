"""A section or a student, event by event, beside the ledger and the read models."""

from collections.abc import Iterator

from sqlalchemy import select

from portal.backend import backend
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.recorder.consistency import ledger_keys, partial_audit
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.ledger_image import BY_NAME, split
from portal.recorder.consistency.partial_audit import Behind, Slice
from portal.recorder.events import Event
from portal.recorder.models import Enrollment, LoggedEvent, SectionSeats, WaitlistEntry

QUIET = {"section", "student", "seats", "also", "times"}  # shown elsewhere, or long


def explain(term: int, kind: str, number: int) -> Iterator[str]:
    """Yield lines about a `section` or `student`; the differences come last."""
    sections = {number} if kind == "section" else _sections_of(term, number)
    part = partial_audit.around(term, sections)
    with transaction() as session:
        for fact in partial_audit.events(session, part, 0, checkpoint(term, session)):
            if fact.payload.get(kind) == number:
                yield _line(fact)
    yield from _rows(term, kind, number)
    yield from _ledger(part, kind, number)
    try:
        differences = partial_audit.compare(term, sections)
    except Behind as behind:
        yield f"UNKNOWN  whether it differs: {behind}"
        return
    for each in differences:
        if f"{kind} {number}" in each["what"] or f"id {number}" == each["what"]:
            yield f"DIFFERS  {_told(each)}"


def _sections_of(term: int, student: int) -> set[int]:
    """Return the sections that any source connects with the student."""
    found = select(LoggedEvent.payload["section"].as_integer()).where(
        LoggedEvent.student_id == student, LoggedEvent.term_id == term
    )
    with transaction() as session:
        known = {section for section in session.scalars(found) if section}
    key = f"student:{student}"
    (_, ledger), *_ = ledger_keys.read_keys(backend().redis, term, [key])
    return known | {int(field.partition(":")[2]) for field in ledger[key]}


def _line(fact: Event) -> str:
    told = {name: value for name, value in fact.payload.items() if name not in QUIET}
    seats = fact.payload.get("seats") or {}
    counts = ", ".join(f"{name} {seats[name]}" for name in ("taken", "waiting") if name in seats)
    whom = f" student {fact.payload['student']}" if "student" in fact.payload else ""
    return (
        f"{fact.seq:>8}  {fact.at:%Y-%m-%d %H:%M:%S.%f}  {fact.aggregate}{whom} {fact.name}"
        f" {told} → {counts or 'nothing counted'}; by {fact.context['actor']}"
    )


def _rows(term: int, kind: str, number: int) -> Iterator[str]:
    """Yield what the read models hold."""
    tables = [SectionSeats] if kind == "section" else []
    with transaction() as session:
        for model in (*tables, Enrollment, WaitlistEntry):
            column = model.__table__.c[f"{kind}_id"]
            rows = select(model.__table__).where(
                model.__table__.c.term_id == term, column == number
            )
            for row in session.execute(rows).mappings():
                told = {name: str(value) for name, value in row.items() if name != "term_id"}
                yield f"READ     {model.__tablename__}: {told}"


def _ledger(part: Slice, kind: str, number: int) -> Iterator[str]:
    """Yield what the ledger holds."""
    keys = part.keys({number} if kind == "student" else ())
    for _, found in ledger_keys.read_keys(backend().redis, part.term, keys):
        for key, entries in sorted(found.items()):
            where, of = split(key)
            for name, value in entries.items():
                what = BY_NAME[where].what(of, name)
                if f"{kind} {number}" in what.split(", "):
                    yield f"LEDGER   {where}, {what}: {value}"


def _told(difference: Difference) -> str:
    return "; ".join(f"{name.replace('_', ' ')}: {value}" for name, value in difference.items())
