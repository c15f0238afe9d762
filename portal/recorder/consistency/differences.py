"""Differences between two versions of a term, by entry and by row."""

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from sqlalchemy import Table

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
from portal.recorder.read_models import rows_of

Difference = dict[str, Any]
Within = Callable[[Kind, str, str], bool]  # whether an entry of such a key is compared


def of_ledger(
    image: Image, steps: Iterable[Step], advance: Callable[[int], None], within: Within
) -> Iterator[Difference]:
    """Yield differences between the ledger and the state that follows from the log, if `within`.

    `advance` moves the image to the event at which a step was read.
    """
    at, due = -1, dict[str, Entries]()
    for seq, found in steps:
        if seq != at:
            advance(seq)
            image.set_aside(found)
            at, due = seq, image.keys()
        for key in sorted(found):
            yield from _of_key(key, found[key], due.get(key, {}), within)


def _of_key(key: str, found: Entries, due: Entries, within: Within) -> Iterator[Difference]:
    name, number = split(key)
    kind = BY_NAME[name]
    for entry in sorted(found.keys() | due.keys()):
        has, must = found.get(entry), plain(stored(due[entry])) if entry in due else None
        harmless = kind.extras_allowed and must is None
        if has != must and not harmless and within(kind, number, entry):
            what = kind.describe(number, entry)
            yield {"where": f"ledger {name}", "what": what, "ledger": has, "log": must}


def of_read_models(log: TermState, found: TermState) -> Iterator[Difference]:
    """Yield differences of the read models from the log."""
    for (table, due), (_, rows) in zip(rows_of(log), rows_of(found), strict=True):
        for key in sorted(due.keys() | rows.keys()):
            if due.get(key) != rows.get(key):
                yield {
                    "where": table.name,
                    "what": _named(table, key),
                    "log": _shown(due.get(key)),
                    "read_model": _shown(rows.get(key)),
                }


def _named(table: Table, key: Any) -> str:
    """Return what a row is about: "section 12, student 5"."""
    if not isinstance(key, tuple):
        return f"id {key}"
    names = [column.name for column in table.primary_key if column.name != "term_id"]
    pairs = zip(names, key, strict=True)
    return ", ".join(f"{name.removesuffix('_id')} {value}" for name, value in pairs)


def _shown(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the row with its times as text."""
    return row and {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in row.items()
    }


def of_log(state: TermState) -> Iterator[Difference]:
    """Yield contradictions in the log, and missing or unreadable events."""
    for seq, wrong in state.contradictions:
        yield {"where": "event log", "what": f"event {seq}", "log": wrong}
