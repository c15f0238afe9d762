"""The waiting room of a window: Redis functions decide each step by the ledger's clock (ms)."""

import re
import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from redis import Redis

from portal.backend import backend
from portal.core import flags
from portal.core.batching import Batcher
from portal.core.ledger_servers import Servers
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.function_library import FunctionLibrary, join_files, translate_errors
from portal.waiting_room.access_tokens import LIFETIME
from portal.windows import draw_seeds

# Each uses those before it.
FILES = ("room", "journal", "queue", "admission", "controls", "entry_points")
CODE = join_files(Path(__file__).with_name("functions"), FILES)
# The constants of the functions, such as PATIENCE: most are ms.
RULE = re.compile(r"^local ([A-Z]+) = (\d+)", re.MULTILINE)
RULES = {name: int(number) for name, number in RULE.findall(CODE)}
BATCH = 1000  # students in one call of send_heartbeats
MOST = 1_000_000  # of either limit
PREPARED = 600  # seconds for which scores wait for the step that uses them
LONGEST_PAUSE = 1.0  # seconds between two calls of advance_all

Kind = Literal["none", "early", "waiting", "called", "gone"]


@dataclass(frozen=True)
class RoomState:
    """The state of a window's waiting room at `at` (ms)."""

    at: int
    opens: int  # when its window opens (ms)
    phase: str  # unknown, before, open or ended
    per_minute: int
    at_once: int
    off: bool
    line: int  # all students who ever came
    called: int  # number of the last one called
    waiting: int
    inside: int
    pace: tuple[tuple[int, int], ...]  # (slot's begin in ms, how far the queue moved in it)
    right: int  # waits within the range that was shown
    wrong: int  # waits outside of it
    free: int = 0  # how many more could come in now if the queue were empty
    share: float = 1  # of `per_minute` that is admitted: less than 1 after pages were slow

    @property
    def paused(self) -> bool:
        """Return whether an admin has paused the queue."""
        return not self.off and not self.per_minute

    @property
    def slowed(self) -> bool:
        """Return whether only a share of the limit per minute is admitted."""
        return round(self.share, 2) < 1 and not self.off and not self.paused

    @property
    def full(self) -> bool:
        """Return whether a student who comes now has to wait."""
        return self.phase == "open" and (self.waiting > 0 or self.free == 0)


@dataclass(frozen=True)
class QueueEntry:
    """A student's entry in the queue: `early` before the draw; `waiting`, `called` or `gone`."""

    kind: Kind
    room: RoomState
    request: str = ""
    since: int = 0  # when it was taken (ms)
    number: int = 0  # position among all who ever came, from 1; it never changes
    ahead: int = 0  # students who are called first
    ends: int = 0  # until when the student may come in, or stay (ms)
    last: int = 0  # until when an admitted student may stay while others wait (ms)

    @property
    def position(self) -> int:
        """Return the queue position: 1 is next, 0 is not waiting."""
        return self.ahead + 1 if self.kind == "waiting" else 0


class SeedLost(Exception):
    """The room's seed has changed: it has lost its data."""


class LimitsChanged(Exception):
    """Another admin has changed the limits since they were read."""


class WindowEnded(Exception):
    """There is no such window, or it has ended."""


def enter(term: int, window: int, student: int) -> QueueEntry:
    """Join the queue unless the student is in it; return their entry. Raise WindowEnded."""
    try:
        return _enter(term, window, student)
    except SeedLost:
        draw_seeds.forget()
        return _enter(term, window, student)


def queue_entry(term: int, window: int, student: int) -> QueueEntry:
    """Return the student's entry in the queue, and record a heartbeat."""
    return _batched_entries(term, window)(student)


def send_heartbeats(term: int, window: int, students: list[int]) -> list[int]:
    """Record heartbeats of many waiting students; return those who no longer wait."""
    others: list[int] = []
    for begin in range(0, len(students), BATCH):
        some = students[begin : begin + BATCH]
        others += _call("heartbeats", term, window, students=some)["others"] or ()
    return others


def extend_stay(term: int, window: int, student: int) -> int | None:
    """Extend an admitted student's stay; return its end (ms), None if they are not admitted."""
    reply = dict(_call("stay", term, window, student=student, stay=LIFETIME))
    ends: int | None = reply.get("ends")
    return ends


def leave(term: int, window: int, student: int) -> None:
    """End a student's entry in the queue, or their stay in the picker."""
    _call("leave", term, window, student=student)


def advance(term: int, window: int) -> RoomState:
    """Admit the students whose turn it is; every request for an entry does so too."""
    return room_state(_call("admit", term, window))


def advance_all(terms: Iterable[int], *, slow: bool = False) -> float:
    """Admit the students whose turn it is in every room; return the seconds until the next call.

    While pages are `slow`, lower the share of the limits that rooms admit. Calling it twice does no
    harm, so any process may do it.
    """
    library, in_full = _library(backend().ledger.servers), not flags.on("room_slowdown")
    sent = {**_limits(), "slow": slow, "in_full": in_full}

    def ask(_: Redis, mine: list[int]) -> list[Any]:
        return [library.ask("advance_all", term, sent, again=True) for term in mine]

    replies = backend().ledger.ask_servers(terms, ask)
    openings: list[float] = [each["opens_in"] / 1000 for each in replies if "opens_in" in each]
    return min([LONGEST_PAUSE, *openings])


def state(term: int, window: int) -> RoomState:
    payload = {"window": window, **_limits()}
    return room_state(_library(backend().ledger.servers).read("state", term, payload))


def set_limits(  # noqa: PLR0913  the room, its limits, and what was seen
    term: int,
    window: int,
    per_minute: int,
    at_once: int,
    *,
    off: bool,
    seen: dict[str, Any] | None = None,
) -> RoomState:
    """Set the limits of a running room; `off` admits everyone, 0 a minute pauses the queue.

    Raises ValueError for limits below zero or beyond MOST, and LimitsChanged if they are no longer
    as `seen`.
    """
    if not all(0 <= each <= MOST for each in (per_minute, at_once)):
        raise ValueError(f"Limits are numbers from 0 to {MOST}.")
    limits = {"per_minute": per_minute, "at_once": at_once, "off": off, "seen": seen}
    reply = _call("limit", term, window, **limits)
    if "error" in reply:
        raise LimitsChanged
    return room_state(reply)


def let_in(term: int, window: int, count: int, key: str) -> int:
    """Admit the next students whatever the limits; return how many.

    With the same key it happens once. Raises WindowEnded if the window is not open.
    """
    return int(_unless_ended(_call("let_in", term, window, count=count, key=key))["admitted"])


def expire(term: int, window: int, student: int, key: str) -> bool:
    """End the visit of an admitted student; return whether there was one.

    With the same key it happens once.
    """
    return bool(_call("expire", term, window, student=student, key=key)["expired"])


def reset(term: int, window: int, key: str) -> dict[str, int]:
    """Empty the queue and end all visits; return how many waited and were inside.

    Limits and the seed of the draw stay. With the same key it happens once. Raises WindowEnded.
    """
    return dict(_unless_ended(_call("reset", term, window, key=key))["emptied"])


def _unless_ended(reply: dict[str, Any]) -> dict[str, Any]:
    if "error" in reply:
        raise WindowEnded(reply["error"])
    return reply


def use_public_value(
    term: int, window: int, value: str, seed: str, scores: Mapping[int, float]
) -> str | None:
    """Order the early students by these scores, and those who will come; once for good.

    Students without a score come after the others. Returns None, or why it is not possible.
    Codes: late (the window opens), other (another value is in use), seed (the ledger has another
    seed than the scores), codes (the scores were lost; try again).
    """
    prepared = f"drawn:{secrets.token_hex(8)}"
    key, pairs = f"{draw_seeds.room_key(term, window)}:{prepared}", list(scores.items())
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=False) as pipe:
        for begin in range(0, len(pairs), BATCH):
            some = pairs[begin : begin + BATCH]
            pipe.hset(key, mapping={str(student): repr(score) for student, score in some})
        pipe.expire(key, PREPARED)
        pipe.execute()
    sent = {"value": value, "seed": seed, "prepared": prepared, "codes": len(pairs)}
    reply = _call("use_public_value", term, window, **sent)
    error: str | None = dict(reply or {}).get("error")
    return error


def record_estimate(term: int, window: int, request: str, least: int, most: int) -> None:
    """Record the first range (ms) that a student was shown, to compare it with the actual wait."""
    _call("record_estimate", term, window, request=request, least=least, most=most)


def room_state(reply: dict[str, Any]) -> RoomState:
    """Return the state of a room in a reply of its functions."""
    facts = {name: reply[name] for name in RoomState.__dataclass_fields__ if name in reply}
    pace = sorted((at, count) for at, count in reply["pace"] or ())
    return RoomState(**{**facts, "pace": tuple(pace)})


def _enter(term: int, window: int, student: int) -> QueueEntry:
    request, seed = secrets.token_hex(16), draw_seeds.seed(term, window)
    sent = {"request": request, "seed": seed, "fraction": repr(draw_seeds.rank(seed, request))}
    reply = _call("enter", term, window, student=student, **sent)
    if "error" in reply:
        raise SeedLost if reply["error"] == "seed" else WindowEnded(reply["error"])
    return _entry(reply["entry"], room_state(reply["state"]))


@lru_cache(maxsize=100)
def _batched_entries(term: int, window: int) -> Batcher[int, QueueEntry]:
    return Batcher(partial(_queue_entries, term, window))


def _queue_entries(term: int, window: int, students: Sequence[int]) -> list[QueueEntry]:
    reply = _call("entries", term, window, students=students)
    room = room_state(reply["state"])
    return [_entry(entry, room) for entry in reply["entries"]]


def _entry(entry: Any, room: RoomState) -> QueueEntry:
    return QueueEntry(**{"kind": "none", **dict(entry or {})}, room=room)


def _call(function: str, term: int, window: int, **payload: Any) -> Any:
    sent = {"window": window, **_limits(), **payload}
    try:
        return _library(backend().ledger.servers).ask(function, term, sent, again=True)
    except LedgerSilent as error:
        if "key" in payload:  # an admin's form, to be sent again
            raise
        # The page repeats the request, which is safe.
        raise LedgerUnavailable(str(error)) from error


def _limits() -> dict[str, Any]:
    """Return the default limits, and whether flags open all rooms or have them recorded."""
    per_minute, at_once = backend().settings.room or (0, 0)
    switched_off = None if flags.on("waiting_room") else True
    record = flags.on("room_record") or None
    return {
        "per_minute": per_minute,
        "at_once": at_once,
        "open": switched_off,
        "record": record,
    }


@lru_cache(maxsize=4)
def _library(servers: Servers) -> FunctionLibrary:
    return FunctionLibrary(servers, "room", CODE, replicas=backend().settings.replicas)
