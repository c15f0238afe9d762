"""What differs between two tellings of a term, entry by entry and row by row."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from portal.record.picture import Picture, of_pair
from portal.record.project import State

Difference = dict[str, Any]


def of_ledger(ledger: Picture, log: Picture) -> Iterator[Difference]:
    """Where the ledger holds something else than it must by the log."""
    for where, what in sorted(ledger.keys() | log.keys()):
        found, due = ledger.get((where, what)), log.get((where, what))
        if found != due:
            yield {"where": f"ledger {where}", "what": what, "ledger": found, "log": due}


def of_read_models(log: State, found: State) -> Iterator[Difference]:
    """Where the read models tell something else than the log."""
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
                "what": of_pair(*key) if isinstance(key, tuple) else f"id {key}",
                "log": _told(due.get(key)),
                "read_model": _told(rows.get(key)),
            }


def _told(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """The row with its times as text."""
    return row and {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def of_log(state: State) -> Iterator[Difference]:
    """Where the log contradicts itself, lacks an event or can't be read."""
    for event, wrong in state.contradictions:
        yield {"where": "event log", "what": f"event {event}", "log": wrong}
