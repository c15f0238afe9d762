"""Every key of a term's ledger as it must be by the log, ready to be written."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from portal.record.picture import COUNTS, emptying, place, seat, times
from portal.record.project import Pair, Row
from portal.record.whole import Whole

# What a section was set to be, as functions/term.lua has it (FIELDS).
FIELDS = ("status", "capacity", "waitlist", "prior", "course", "credits_min", "credits_max")
POOLED = COUNTS.index("pool_capacity")  # where the counts of a pool begin
WAITS = {"waiting", "passed"}

Members = frozenset[int]
Scores = Mapping[Any, int]


@dataclass(frozen=True)
class Ordered:
    """A sorted set: its members by their scores."""

    scores: Scores


Value = Mapping[Any, Any] | Members | Ordered | str
Entry = tuple[str, Value]


def keys(whole: Whole) -> Iterator[Entry]:
    """Name and value of each key but `seq` and `journal`, which are written last.

    Who in line has been asked whether a kept seat is for them no event tells: they are asked again.
    """
    found = chain(_offer(whole), _sections(whole), _students(whole), _windows(whole))
    return ((name, value) for name, value in found if value and value != Ordered({}))


def as_json(value: Any) -> str:
    """As the ledger writes it."""
    return json.dumps(value, separators=(",", ":"))


def _offer(whole: Whole) -> Iterator[Entry]:
    for section, told in whole.told.items():
        facts = {"version": told["section_version"], "pool": told.get("pool") or 0}
        facts |= {name: told[name] for name in FIELDS}
        facts["times"] = as_json(told["times"])
        facts["reserves"] = as_json(told.get("reserves", []))
        yield f"section:{section}", facts
    for pool, sections in whole.pools.items():
        yield f"pool:{pool}", frozenset(sections)
    yield (
        "pools",
        {
            pool: f"{_capacity(whole, pool)}:{version}"
            for pool, version in whole.pool_versions.items()
        },
    )
    yield "reserves", Ordered(dict(_opening_reserves(whole)))


def _capacity(whole: Whole, pool: int) -> int:
    return int(next(whole.seats[each]["pool_capacity"] for each in whole.pools[pool]))


def _opening_reserves(whole: Whole) -> Iterator[tuple[int, int]]:
    """Sections and when (ms) the first of their reserves falls open that was not open yet."""
    for section, planned in whole.planned.items():
        ends = [each["until"] for each in whole.seats[section]["reserves"]]
        if coming := [end for end in ends if end > planned]:
            yield section, min(coming)


def _sections(whole: Whole) -> Iterator[Entry]:
    rosters, queues, passed, passes = _lists(whole)
    yield "seats", {section: as_json(_counts(whole, section)) for section in whole.seats}
    yield "vacant", frozenset(each for each in whole.seats if _vacant(whole, each))
    yield "emptying", frozenset(emptying(whole))
    yield "marked", frozenset(passed)
    for section, row in whole.seats.items():
        yield f"roster:{section}", rosters[section]
        yield f"queue:{section}", Ordered(queues[section])
        yield f"passed:{section}", passed.get(section, {})
        yield f"passes:{section}", passes[section]
        yield f"reserved:{section}", row["reserved"]


def _lists(whole: Whole) -> tuple[Any, Any, Any, Any]:
    """By section: seats, tickets, reasons of those passed over, and passes that count."""
    rosters: dict[int, dict[int, str]] = defaultdict(dict)
    queues: dict[int, dict[int, int]] = defaultdict(dict)
    passed: dict[int, dict[int, str]] = defaultdict(dict)
    passes: dict[int, dict[int, int]] = defaultdict(dict)
    for (section, student), row in _held(whole):
        rosters[section][student] = seat(row)
    for (section, student), row in _waited(whole):
        queues[section][student] = row["ticket"]
        if row["state"] == "passed":
            passed[section][student] = as_json(row["reasons"])
    for (section, student), count in whole.passes.items():
        passes[section][student] = count
    return rosters, queues, passed, passes


def _held(whole: Whole) -> Iterator[tuple[Pair, Row]]:
    return ((at, row) for at, row in whole.enrollments.items() if row["state"] == "enrolled")


def _waited(whole: Whole) -> Iterator[tuple[Pair, Row]]:
    return ((at, row) for at, row in whole.places.items() if row["state"] in WAITS)


def _counts(whole: Whole, section: int) -> list[Any]:
    row = whole.seats[section]
    counted = whole.counted(row) | {"seq": row["seq"], "kept": row["kept"]}
    counts = [counted[name] for name in COUNTS if name in counted]
    return [*counts[:POOLED], _unasked(whole, section), *counts[POOLED:]]


def _unasked(whole: Whole, section: int) -> int:
    """Those in line who are to be asked whether a kept seat is for them."""
    row, taken = whole.seats[section], _taken(whole, section)
    asks = row["kept"] and taken < row["capacity"]
    return int(row["waiting"] - row["passed"]) if asks else 0


def _vacant(whole: Whole, section: int) -> bool:
    """Whether there is a seat, and somebody in line to be asked."""
    row, counted = whole.seats[section], whole.counted(whole.seats[section])
    room = not row["pool_id"] or counted["pool_taken"] < counted["pool_capacity"]
    free = counted["taken"] + row["kept"] < row["capacity"] and row["waiting"] > row["passed"]
    return row["status"] == "OPEN" and room and (free or _unasked(whole, section) > 0)


def _taken(whole: Whole, section: int) -> int:
    return int(whole.counted(whole.seats[section])["taken"])


def _students(whole: Whole) -> Iterator[Entry]:
    found: dict[int, dict[str, Any]] = defaultdict(dict)
    for (section, student), row in _held(whole):
        found[student][f"e:{section}"] = row["credits"]
        if row["corequisites"]:
            found[student][f"c:{section}"] = as_json(row["corequisites"])
    for (section, student), row in _waited(whole):
        found[student][f"w:{section}"] = place(row)
    for student, fields in found.items():
        yield f"student:{student}", fields
    for student, days in whole.drops.items():
        yield f"drops:{student}", days


def _windows(whole: Whole) -> Iterator[Entry]:
    windows = {window: times(row) | _turned(whole, window) for window, row in whole.windows.items()}
    yield "windows", {window: as_json(told) for window, told in windows.items()}
    due = [end for _, end in _opening_reserves(whole)]
    due += [
        told["closes"] if "opened" in told else told["opens"]
        for told in windows.values()
        if told["state"] != "canceled" and not ("opened" in told and "ended" in told)
    ]
    yield "next", str(min(due)) if due else ""


def _turned(whole: Whole, window: int) -> dict[str, bool]:
    turned = ("opened", whole.opened), ("ended", whole.ended)
    return {name: True for name, windows in turned if window in windows}
