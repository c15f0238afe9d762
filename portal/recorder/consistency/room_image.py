"""Waiting rooms made again from the event log, where the ledger has lost entries of them.

The order of the queue, departures and admissions follow from the log. Heartbeats and visits do not:
everyone who waits counts as heard now, and who was admitted lately may come in again.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from portal.backend import backend
from portal.core.moments import milliseconds
from portal.ledger.function_library import translate_errors
from portal.recorder.consistency import ledger_keys
from portal.recorder.consistency.fence import Command
from portal.recorder.consistency.ledger_image import Entries, Image, Shape
from portal.recorder.projections import Row
from portal.recorder.waiting_rooms import entries_in_order
from portal.waiting_room import admission_limits
from portal.waiting_room.room import RULES
from portal.windows.draw_seeds import room_key

KINDS: dict[str, Shape] = {
    "": "hash",
    "line": "sorted set",
    "who": "hash",
    "mine": "hash",
    "left": "hash",
    "gone": "sorted set",
    "seen": "sorted set",
    "in": "sorted set",
    "away": "sorted set",
}
# Of the visits, which do not follow from the log either.
FORGOTTEN = ("back", "came", "pace", "estimates")


def lost_rooms(term: int, image: Image) -> list[int]:
    """Return the windows whose rooms lack recorded entries, or their seed."""
    found = []
    for window, room in image.queue_rooms.items():
        key = room_key(term, window)
        with translate_errors(), backend().redis.pipeline(transaction=False) as pipe:
            pipe.hget(key, "seed")
            pipe.zrange(f"{key}:line", 0, -1)
            seed, line = pipe.execute()
        recorded = {row["entry"] for _, row in entries_in_order(image, window)}
        whole = seed == room["seed"].encode() and recorded <= {each.decode() for each in line}
        if room["complete"] and not whole:
            found.append(window)
    return found


def commands(term: int, image: Image, windows: Iterable[int], now: int) -> Iterator[Command]:
    """Yield the commands that replace the rooms of these windows; `now` is in ms."""
    for window in windows:
        base = room_key(term, window)
        kept = {kind: f"{base}:{kind}" if kind else base for kind in (*KINDS, *FORGOTTEN)}
        yield ["UNLINK", *kept.values()]
        for kind, entries in _keys(term, image, window, now).items():
            if entries:
                yield from ledger_keys.write_commands(kept[kind], KINDS[kind], entries)


def _keys(term: int, image: Image, window: int, now: int) -> dict[str, Entries]:
    """Return the entries of each key of a room."""
    room, rows = image.queue_rooms[window], entries_in_order(image, window)
    keys: dict[str, Any] = {kind: {} for kind in KINDS}
    keys[""] = _fields(term, room, rows, now)
    newest = {row["student_id"]: row["entry"] for _, row in sorted(rows, key=_age)}
    for position, (score, row) in enumerate(rows):
        entry, student = row["entry"], str(row["student_id"])
        keys["line"][entry] = repr(score)
        keys["who"][entry] = f"{student}:{milliseconds(row['since'])}"
        if newest[row["student_id"]] == entry:
            _place(keys, row, now, score, passed=position < room["called"])
    return keys


def _fields(term: int, room: Row, rows: list[tuple[float, Row]], now: int) -> dict[str, Any]:
    """Return the fields of the room itself.

    Students have time to send a heartbeat before the room skips silent ones.
    """
    limits = admission_limits.last_set(term, room["window_id"])
    numbers = [row["number"] for _, row in rows if row["number"]]
    fields = {"seed": room["seed"], "called": room["called"], "late": max(numbers, default=0)}
    fields |= {"heard": now, "patient": now + RULES["PATIENCE"], "recorded": 1}
    if limits:
        fields |= {"per_minute": limits.per_minute, "at_once": limits.at_once}
        fields["off"] = int(limits.off)
    return fields


def _place(keys: dict[str, Any], row: Row, now: int, score: float, *, passed: bool) -> None:
    """Put a student where they were: in the queue, at its front, admitted, or gone."""
    entry, student, state = row["entry"], str(row["student_id"]), row["state"]
    if state == "left":
        keys["left"][student] = entry
        if not passed:
            keys["gone"][entry] = repr(score)
    elif state == "waiting":
        keys["mine"][student], keys["seen"][entry] = entry, now
        if passed:  # it was skipped; with the next heartbeat it is at the front
            keys["away"][entry] = now + RULES["CHANCE"]
    elif state == "admitted" and milliseconds(row["admitted_at"]) > now - RULES["LONGEST"]:
        keys["mine"][student], keys["seen"][entry] = entry, now
        keys["in"][student], keys["away"][entry] = now + RULES["TAKE"], now + RULES["CHANCE"]


def _age(scored: tuple[float, Row]) -> int:
    return int(scored[1]["seq"])
