"""Waiting rooms compared with the event log, and made again from it where entries are lost.

The order of the queue, departures and admissions follow from the log. Heartbeats and visits do not:
everyone who waits counts as heard now, and who was admitted lately may come in again.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from portal.backend import backend
from portal.core.moments import milliseconds
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.consistency import ledger_keys
from portal.recorder.consistency.fence import Command
from portal.recorder.consistency.ledger_image import Entries, Image, Shape
from portal.recorder.projections import Row
from portal.recorder.waiting_rooms import entries_in_order, score_of
from portal.waiting_room import admission_limits, draw_codes
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
    "drawn": "hash",
}
# Of the visits, which do not follow from the log either.
FORGOTTEN = ("back", "came", "pace", "estimates")


# Entries that one atomic step reads, so that no decision waits long.
ENTRIES_PER_STEP = 1000
OFF = "0"  # of a room's field "recorded": it has changed without events


@dataclass(frozen=True)
class RoomStep:
    """What the ledger held of a room at the event `seq`: its fields, and some queue entries.

    An entry has a score and its student and time, joined; None if it is missing. Of the steps of a
    room, the `first` stands for the room itself.
    """

    window: int
    seq: int
    first: bool
    fields: dict[str, str]
    size: int  # of the queue
    entries: dict[str, tuple[float | None, str | None]]


def read(term: int, image: Image) -> list[RoomStep]:
    """Return the rooms and entries that the image knows, each step read atomically."""
    known: defaultdict[int, list[str]] = defaultdict(list)
    for (window, entry), row in image.queue_entries.items():
        if row["state"] != "removed":
            known[window].append(entry)
    rooms = [window for window, room in image.queue_rooms.items() if room["complete"]]
    return [
        _read_step(term, window, known[window][start : start + ENTRIES_PER_STEP], first=not start)
        for window in rooms
        for start in range(0, len(known[window]) or 1, ENTRIES_PER_STEP)
    ]


def _read_step(term: int, window: int, entries: list[str], *, first: bool) -> RoomStep:
    key = room_key(term, window)
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=True) as pipe:
        pipe.get(f"{prefix(term)}:seq")
        pipe.hgetall(key)
        pipe.zcard(f"{key}:line")
        if entries:
            pipe.zmscore(f"{key}:line", entries)
            pipe.hmget(f"{key}:who", entries)
        seq, fields, size, *found = pipe.execute()
    scores, who = found or ((), ())
    texts = [each and each.decode() for each in who]
    return RoomStep(
        window,
        int(seq or 0),
        first,
        {name.decode(): value.decode() for name, value in fields.items()},
        size,
        dict(zip(entries, zip(scores, texts, strict=True), strict=True)),
    )


def differences(
    image: Image, steps: Iterable[RoomStep], advance: Callable[[int], None]
) -> Iterator[dict[str, Any]]:
    """Yield the differences between rooms in the ledger and their record.

    `advance` moves the image to the event at which a step was read. Rooms whose record is
    incomplete, or was switched off, are not compared.
    """
    for step in steps:
        advance(step.seq)
        room = image.queue_rooms.get(step.window)
        if not room or not room["complete"] or step.fields.get("recorded") == OFF:
            continue
        found = [*_of_entries(image, step, room)]
        if step.first:
            found += _of_room(image, step, room)
        for name, ledger, log in found:
            what = f"window {step.window}, {name}"
            yield {"where": "ledger waiting room", "what": what, "ledger": ledger, "log": log}


Found = tuple[str, Any, Any]  # the name, and what the ledger and the log have


def _of_room(image: Image, step: RoomStep, room: Row) -> Iterator[Found]:
    if step.fields.get("seed") != room["seed"]:
        yield "seed of the draw", step.fields.get("seed"), room["seed"]
    if step.fields.get("public") != room["public"]:
        yield "public value of the draw", step.fields.get("public"), room["public"]
    called = int(step.fields.get("called", 0))
    if called != room["called"]:
        yield "passed entries", called, room["called"]
    recorded = sum(
        window == step.window and row["state"] != "removed"
        for (window, _), row in image.queue_entries.items()
    )
    if step.size > recorded:  # missing ones are named each
        yield "queue entries", step.size, recorded


def _of_entries(image: Image, step: RoomStep, room: Row) -> Iterator[Found]:
    for entry, found in step.entries.items():
        row = image.queue_entries[step.window, entry]
        if row["state"] == "removed":  # the room was emptied while it was read
            continue
        due = score_of(room, row), f"{row['student_id']}:{milliseconds(row['since'])}"
        if found != due:
            yield f"queue entry {entry}", found if any(found) else None, due


def lost_rooms(term: int, image: Image) -> list[int]:
    """Return the windows whose rooms lack recorded entries or admissions, or their seed."""
    found = []
    for window, room in image.queue_rooms.items():
        key = room_key(term, window)
        with translate_errors(), backend().ledger.redis(term).pipeline(transaction=False) as pipe:
            pipe.hmget(key, "seed", "recorded", "called", "public")
            pipe.zrange(f"{key}:line", 0, -1)
            (seed, records, called, public), line = pipe.execute()
        recorded = {row["entry"] for _, row in entries_in_order(image, window)}
        due = room["seed"].encode(), room["public"] and room["public"].encode()
        whole = (seed, public) == due and recorded <= {each.decode() for each in line}
        moved = records == b"1" and int(called or 0) != room["called"]
        if room["complete"] and (moved or not whole):
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
    room, rows = image.queue_rooms[window], entries_in_order(image, window)
    keys: dict[str, Any] = {kind: {} for kind in KINDS}
    keys[""] = _fields(term, room, rows, now)
    if room["public"]:
        drawn = draw_codes.ranks(window, room["seed"], room["public"])
        keys["drawn"] = {str(student): repr(each) for student, each in drawn.items()}
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
    fields: dict[str, Any] = {"seed": room["seed"], "called": room["called"]}
    fields["late"] = max(numbers, default=0)
    fields |= {"heard": now, "patient": now + RULES["PATIENCE"], "recorded": 1}
    if room["public"]:
        fields["public"] = room["public"]
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
