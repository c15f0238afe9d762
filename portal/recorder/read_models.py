"""The read models and the event log in PostgreSQL, read and written in bulk."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

import orjson
from psycopg2 import Error as DriverError
from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Integer,
    Table,
    TextClause,
    and_,
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
from portal.recorder.events import QUEUE, Event
from portal.recorder.models import (
    Enrollment,
    QueueEntryRecord,
    QueueRoom,
    SectionSeats,
    WaitlistEntry,
)
from portal.recorder.projections import (
    MOVE_WAITLIST_ENTRY,
    RETRY_SKIPPED,
    Row,
    TermState,
    empties_queue,
)
from portal.windows.models import Window

NULL = r"\N"
AT_ONCE = 20_000  # rows per statement
LINES = 50  # events sent to PostgreSQL at a time
# Each table, and its rows in a TermState.
TABLES: dict[type[Base], str] = {
    SectionSeats: "seats",
    Enrollment: "enrollments",
    WaitlistEntry: "waitlist",
    Window: "windows",
    QueueRoom: "queue_rooms",
    QueueEntryRecord: "queue_entries",
}


def rows_of(state: TermState) -> Iterator[tuple[Table, dict[Any, Row]]]:
    """Yield each table, with its rows in the state by their keys."""
    return ((_table(model), getattr(state, name)) for model, name in TABLES.items())


def as_json(value: object) -> str:
    """Return JSON for PostgreSQL, with times and amounts in its notation."""
    return orjson.dumps(value, default=str).decode()


def load(session: Session, term: int, events: Sequence[Event]) -> TermState:
    """Return the existing rows of the term that the events will change."""
    windows = {event.payload["window"] for event in events if "window" in event.payload}
    chosen: dict[type[Base], ColumnElement[bool]] = {
        SectionSeats: _counted_by(term, events),
        WaitlistEntry: _moved_by(events),
        Window: Window.id.in_(windows),
    }
    if queued := [event for event in events if event.aggregate.startswith(QUEUE)]:
        chosen[QueueRoom] = QueueRoom.window_id.in_({each.payload["window"] for each in queued})
        chosen[QueueEntryRecord] = _queued_by(queued)
    return _load(session, term, chosen)


def load_all(session: Session, term: int) -> TermState:
    """Return every row of the term."""
    return _load(session, term, dict.fromkeys(TABLES, true()))


def load_some(
    session: Session, term: int, sections: Collection[int], windows: Collection[int]
) -> TermState:
    """Return every row of these sections and windows."""
    chosen = {
        model: model.section_id.in_(sections) for model in (SectionSeats, Enrollment, WaitlistEntry)
    }
    return _load(session, term, chosen | {Window: Window.id.in_(windows)})


def load_rooms(session: Session, term: int) -> TermState:
    """Return every row of the term's waiting rooms."""
    return _load(session, term, dict.fromkeys((QueueRoom, QueueEntryRecord), true()))


def write(session: Session, term: int, state: TermState, after: int) -> None:
    """Store the rows that changed after event `after`."""
    for table, rows in rows_of(state):
        moved = [row for row in rows.values() if row["seq"] > after]
        _execute(session, term, _upsert(table), moved)


def replace(session: Session, term: int, due: TermState, found: TermState) -> None:
    """Turn the rows that were `found` into those that are `due`; leave equal rows alone."""
    for (table, rows), (_, old) in zip(rows_of(due), rows_of(found), strict=True):
        gone = dict(old)
        changed = [row for key, row in rows.items() if gone.pop(key, None) != row]
        _execute(session, term, _delete(table), list(gone.values()))
        _execute(session, term, _upsert(table, newer=False), changed)


def append(session: Session, term: int, events: Iterable[Event]) -> None:
    """Add the events to the event log, the first ones while the iterable makes the next.

    Raises what the iterable raises.
    """
    lines = _Lines(_line(term, event) for event in events)
    # This insert limits the rate of a rush; COPY takes half the time of any other way.
    cursor: Any = session.connection().connection.cursor()
    try:
        cursor.copy_expert(
            "COPY events (term_id, seq, name, version, aggregate, student_id, payload, context,"
            " occurred_at) FROM STDIN",
            lines,
        )
    except DriverError as error:
        raise lines.error or error from None
    cursor.close()


class _Lines:
    """A file for COPY that makes its lines as they are read.

    `error` is what making a line raised: psycopg2 raises an error of its own in its place.
    """

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines
        self.error: BaseException | None = None

    def read(self, _size: int) -> str:
        """Return the next lines; PostgreSQL stores them meanwhile."""
        try:
            return "".join(islice(self.lines, LINES))
        except BaseException as error:
            self.error = error
            raise


def _line(term: int, event: Event) -> str:
    """Return a line for COPY.

    JSON contains no raw tabs or line breaks, but it does contain backslashes.
    """
    payload = event.payload
    json = f"{as_json(payload)}\t{as_json(event.context)}".replace("\\", "\\\\")
    return (
        f"{term}\t{event.seq}\t{event.name}\t{event.version}\t{event.aggregate}"
        f"\t{payload.get('student', NULL)}\t{json}\t{event.at.isoformat()}\n"
    )


def _counted_by(term: int, events: Iterable[Event]) -> ColumnElement[bool]:
    """Match the events' sections, and those that share or will share seats with them."""
    payloads = [event.payload for event in events]
    sections = {each["section"] for each in payloads if "section" in each}
    pools = {each["pool"] for each in payloads if "pool" in each}
    pooled = select(SectionSeats.pool_id).where(
        SectionSeats.term_id == term, SectionSeats.section_id.in_(sections)
    )
    return or_(
        SectionSeats.section_id.in_(sections),
        SectionSeats.pool_id.in_(pools),
        SectionSeats.pool_id.in_(pooled.where(SectionSeats.pool_id.is_not(None))),
    )


def _moved_by(events: Iterable[Event]) -> ColumnElement[bool]:
    """Match the waitlist entries that the events move, and skipped ones that may wait again."""
    movers = [event.payload for event in events if event.name in MOVE_WAITLIST_ENTRY]
    pairs = select(
        *(
            func.unnest(bindparam(None, [each[key] for each in movers], type_=ARRAY(Integer)))
            for key in ("section", "student")
        )
    )
    moved = tuple_(WaitlistEntry.section_id, WaitlistEntry.student_id).in_(pairs)
    if any(event.name in RETRY_SKIPPED for event in events):
        return or_(moved, WaitlistEntry.state == "passed")
    return moved


def _queued_by(events: Iterable[Event]) -> ColumnElement[bool]:
    """Match the queue entries that the events name, and all of the rooms that they empty."""
    payloads = [event.payload for event in events]
    entries = {each["entry"] for each in payloads if "entry" in each}
    entries.update(entry for each in payloads for entry in each.get("entries", ()))
    # Both columns: the primary key begins with the window.
    named = and_(
        QueueEntryRecord.window_id.in_({each["window"] for each in payloads}),
        QueueEntryRecord.entry.in_(entries),
    )
    emptied = {event.payload["window"] for event in events if empties_queue(event)}
    return or_(named, QueueEntryRecord.window_id.in_(emptied)) if emptied else named


def _load(
    session: Session, term: int, chosen: Mapping[type[Base], ColumnElement[bool]]
) -> TermState:
    state = TermState()
    for model, condition in chosen.items():
        table, rows = _table(model), getattr(state, TABLES[model])
        columns = [column for column in table.c if column.name != "term_id"]
        key = itemgetter(*_keys(table))
        found = session.execute(select(*columns).where(table.c.term_id == term, condition))
        for row in found.mappings():
            rows[key(row)] = dict(row)
    for section, counts in state.seats.items():
        if counts["pool_id"]:
            state.pools.setdefault(counts["pool_id"], set()).add(section)
    state.skipped = {key for key, entry in state.waitlist.items() if entry["state"] == "passed"}
    return state


def _execute(session: Session, term: int, statement: TextClause, rows: Sequence[Row]) -> None:
    for start in range(0, len(rows), AT_ONCE):
        parameters = {"term": term, "rows": as_json(rows[start : start + AT_ONCE])}
        session.execute(statement, parameters)


def _delete(table: Table) -> TextClause:
    """Return the statement that deletes rows, given as one JSON parameter."""
    same = " AND ".join(f"old.{name} = gone.{name}" for name in _keys(table))
    return text(
        f"DELETE FROM {table.name} old"  # noqa: S608
        f" USING json_populate_recordset(NULL::{table.name}, :rows) gone"
        f" WHERE old.term_id = :term AND {same}"
    )


def _upsert(table: Table, *, newer: bool = True) -> TextClause:
    """Return the statement that writes rows, given as one JSON parameter.

    They replace older rows only, or all.
    """
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


def _keys(table: Table) -> list[str]:
    """Return the columns that identify a row within a term."""
    return [column.name for column in table.primary_key if column.name != "term_id"]


def _table(model: type[Base]) -> Table:
    table = model.__table__
    assert isinstance(table, Table)  # noqa: S101  for the type checker
    return table
