"""The read models and the event log in PostgreSQL, read and written in bulk."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from io import StringIO
from typing import Any

import orjson
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Table,
    TextClause,
    bindparam,
    func,
    or_,
    select,
    text,
    true,
    tuple_,
)
from sqlalchemy.orm import Session

from portal.core.db import Base
from portal.recorder.events import Event
from portal.recorder.models import Enrollment, SectionSeats, WaitlistEntry
from portal.recorder.projections import MOVE_WAITLIST_ENTRY, RETRY_SKIPPED, Row, TermState
from portal.windows.models import Window

NULL = r"\N"
AT_ONCE = 20_000  # rows per statement


def as_json(told: object) -> str:
    """Return JSON for PostgreSQL, with times and amounts in its notation."""
    return orjson.dumps(told, default=str).decode()


def load(session: Session, term: int, facts: Sequence[Event]) -> TermState:
    """Return the existing rows of the term that the events will change."""
    windows = {fact.payload["window"] for fact in facts if "window" in fact.payload}
    return _state(
        seats=_rows(session, term, SectionSeats, _counted_by(term, facts)),
        places=_rows(session, term, WaitlistEntry, _moved_by(facts)),
        windows=_rows(session, term, Window, Window.id.in_(windows)),
    )


def load_all(session: Session, term: int) -> TermState:
    """Return every row of the term."""
    return _state(
        seats=_rows(session, term, SectionSeats, true()),
        enrollments=_rows(session, term, Enrollment, true()),
        places=_rows(session, term, WaitlistEntry, true()),
        windows=_rows(session, term, Window, true()),
    )


def load_some(
    session: Session, term: int, sections: Collection[int], windows: Collection[int]
) -> TermState:
    """Return every row of these sections and windows."""
    return _state(
        seats=_rows(session, term, SectionSeats, SectionSeats.section_id.in_(sections)),
        enrollments=_rows(session, term, Enrollment, Enrollment.section_id.in_(sections)),
        places=_rows(session, term, WaitlistEntry, WaitlistEntry.section_id.in_(sections)),
        windows=_rows(session, term, Window, Window.id.in_(windows)),
    )


def write(session: Session, term: int, state: TermState, after: int) -> None:
    """Store the rows that changed after event `after`."""
    for model, rows in (
        (SectionSeats, state.seats.values()),
        (Enrollment, state.enrollments.values()),
        (WaitlistEntry, state.places.values()),
        (Window, state.windows.values()),
    ):
        moved = [row for row in rows if row["seq"] > after]
        if moved:
            parameters = {"term": term, "rows": as_json(moved)}
            session.execute(_upsert(model), parameters)


def replace(session: Session, term: int, due: TermState, found: TermState) -> None:
    """Turn the rows that were `found` into those that are `due`; leave equal rows alone."""
    for model, rows, old in (
        (SectionSeats, due.seats, found.seats),
        (Enrollment, due.enrollments, found.enrollments),
        (WaitlistEntry, due.places, found.places),
        (Window, due.windows, found.windows),
    ):
        was: dict[Any, Row] = dict(old)
        changed = [row for key, row in rows.items() if was.pop(key, None) != row]
        _execute(session, term, _delete(model), list(was.values()))
        _execute(session, term, _upsert(model, newer=False), changed)


def append(session: Session, term: int, facts: Sequence[Event]) -> None:
    """Append the events to the event log."""
    lines = StringIO("".join(_line(term, fact) for fact in facts))
    # This insert limits the rate of a rush; COPY takes half the time of any other way.
    cursor: Any = session.connection().connection.cursor()
    cursor.copy_expert(
        "COPY events (term_id, seq, name, version, aggregate, student_id, payload, context,"
        " occurred_at) FROM STDIN",
        lines,
    )
    cursor.close()


def _line(term: int, fact: Event) -> str:
    """Return a line for COPY.

    JSON contains no raw tabs or line breaks, but it does contain backslashes.
    """
    told = fact.payload
    json = f"{as_json(told)}\t{as_json(fact.context)}".replace("\\", "\\\\")
    return (
        f"{term}\t{fact.seq}\t{fact.name}\t{fact.version}\t{fact.aggregate}"
        f"\t{told.get('student', NULL)}\t{json}\t{fact.at}\n"
    )


def _counted_by(term: int, facts: Iterable[Event]) -> ColumnElement[bool]:
    """Match the events' sections, and all that share or will share seats with them."""
    told = [fact.payload for fact in facts]
    sections = {each["section"] for each in told if "section" in each}
    pools = {each["pool"] for each in told if "pool" in each}
    pooled = select(SectionSeats.pool_id).where(
        SectionSeats.term_id == term, SectionSeats.section_id.in_(sections)
    )
    return or_(
        SectionSeats.section_id.in_(sections),
        SectionSeats.pool_id.in_(pools),
        SectionSeats.pool_id.in_(pooled.where(SectionSeats.pool_id.is_not(None))),
    )


def _moved_by(facts: Iterable[Event]) -> ColumnElement[bool]:
    """Match the waitlist entries that the events move, and skipped ones that may wait again."""
    movers = [fact.payload for fact in facts if fact.name in MOVE_WAITLIST_ENTRY]
    pairs = select(
        func.unnest(_integers([mover["section"] for mover in movers])),
        func.unnest(_integers([mover["student"] for mover in movers])),
    )
    moved = tuple_(WaitlistEntry.section_id, WaitlistEntry.student_id).in_(pairs)
    if any(fact.name in RETRY_SKIPPED for fact in facts):
        return or_(moved, WaitlistEntry.state == "passed")
    return moved


def _rows(
    session: Session, term: int, model: type[Base], condition: ColumnElement[bool]
) -> list[Row]:
    table = _table(model)
    columns = [column for column in table.c if column.name != "term_id"]
    found = session.execute(select(*columns).where(table.c.term_id == term, condition))
    return [dict(row) for row in found.mappings()]


def _state(
    seats: Iterable[Row] = (),
    enrollments: Iterable[Row] = (),
    places: Iterable[Row] = (),
    windows: Iterable[Row] = (),
) -> TermState:
    by_pair = {(row["section_id"], row["student_id"]): row for row in places}
    by_section = {row["section_id"]: row for row in seats}
    pools: dict[int, set[int]] = defaultdict(set)
    for section, row in by_section.items():
        if row["pool_id"]:
            pools[row["pool_id"]].add(section)
    return TermState(
        seats=by_section,
        pools=pools,
        enrollments={(row["section_id"], row["student_id"]): row for row in enrollments},
        places=by_pair,
        windows={row["id"]: row for row in windows},
        passed={key for key, row in by_pair.items() if row["state"] == "passed"},
    )


def _execute(session: Session, term: int, statement: TextClause, rows: Sequence[Row]) -> None:
    for start in range(0, len(rows), AT_ONCE):
        parameters = {"term": term, "rows": as_json(rows[start : start + AT_ONCE])}
        session.execute(statement, parameters)


@cache
def _delete(model: type[Base]) -> TextClause:
    """Return the statement that deletes rows, given as one JSON parameter."""
    table = _table(model)
    keys = [column.name for column in table.primary_key if column.name != "term_id"]
    same = " AND ".join(f"old.{name} = gone.{name}" for name in keys)
    return text(
        f"DELETE FROM {table.name} old"  # noqa: S608
        f" USING json_populate_recordset(NULL::{table.name}, :rows) gone"
        f" WHERE old.term_id = :term AND {same}"
    )


@cache
def _upsert(model: type[Base], *, newer: bool = True) -> TextClause:
    """Return the statement that writes rows, given as one JSON parameter.

    They replace older rows only, or all.
    """
    table = _table(model)
    keys = [column.name for column in table.primary_key]
    others = [column.name for column in table.c if column.name not in keys]
    columns = ", ".join(column.name for column in table.c if column.name != "term_id")
    changes = ", ".join(f"{name} = excluded.{name}" for name in others)
    return text(
        f"INSERT INTO {table.name} (term_id, {columns}) SELECT :term, {columns}"  # noqa: S608
        f" FROM json_populate_recordset(NULL::{table.name}, :rows)"
        f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
        + (f" WHERE excluded.seq > {table.name}.seq" if newer else "")
    )


def _table(model: type[Base]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)  # noqa: S101  for the type checker
    return table


def _integers(values: Sequence[int]) -> ColumnElement[Sequence[int]]:
    return bindparam(None, values, type_=ARRAY(Integer))
