"""Differences between two versions of a term, by entry and by row."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from portal.recorder.consistency.ledger_image import (
    BY_NAME,
    Entries,
    Image,
    Kind,
    plain,
    split,
    stored,
)
from portal.recorder.consistency.ledger_keys import Step
from portal.recorder.projections import TermState

Difference = dict[str, Any]


def of_ledger(
    image: Image,
    taken: Iterable[Step],
    advance: Callable[[int], None],
    within: Callable[[Kind, str, str], bool] = lambda *_: True,
) -> Iterator[Difference]:
    """Yield where the ledger differs from what the log implies, for the entries `within`.

    `advance` moves the image to the event at which a step was read.
    """
    at, due = -1, dict[str, Entries]()
    for seq, found in taken:
        if seq != at:
            advance(seq)
            image.set_aside(found)
            at, due = seq, image.keys()
        for key in sorted(found):
            yield from _of_key(key, found[key], due.get(key, {}), within)


def _of_key(
    key: str, found: Entries, due: Entries, within: Callable[[Kind, str, str], bool]
) -> Iterator[Difference]:
    name, number = split(key)
    kind = BY_NAME[name]
    for entry in sorted(found.keys() | due.keys()):
        has, must = found.get(entry), plain(stored(due[entry])) if entry in due else None
        spare = kind.spare and must is None
        if has != must and not spare and within(kind, number, entry):
            what = kind.what(number, entry)
            yield {"where": f"ledger {name}", "what": what, "ledger": has, "log": must}


def of_read_models(log: TermState, found: TermState) -> Iterator[Difference]:
    """Yield where the read models differ from the log."""
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
                "what": "section {}, student {}".format(*key)
                if isinstance(key, tuple)
                else f"id {key}",
                "log": _told(due.get(key)),
                "read_model": _told(rows.get(key)),
            }


def _told(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the row with its times as text."""
    return row and {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def of_log(state: TermState) -> Iterator[Difference]:
    """Yield where the log contradicts itself, lacks an event or cannot be read."""
    for event, wrong in state.contradictions:
        yield {"where": "event log", "what": f"event {event}", "log": wrong}
