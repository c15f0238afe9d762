"""The waiting room's Python face: each call is one step, by the ledger's clock (ms)."""

import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from redis import Redis

from portal.backend import backend
from portal.core import flags
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.ledger.function_library import FunctionLibrary, join_files, prefix, translate_errors
from portal.waiting_room.access_tokens import LIFETIME
from portal.waiting_room.batching import Batcher
from portal.windows import draw_seeds

# In this order, as each knows those before it.
PARTS = ("room", "places", "calling", "doors")
CODE = join_files(Path(__file__).with_name("functions"), PARTS)
# The numbers that the room goes by, such as PATIENCE: most are ms.
RULE = re.compile(r"^local ([A-Z]+) = (\d+)", re.MULTILINE)
RULES = {name: int(number) for name, number in RULE.findall(CODE)}
TOGETHER = 1000  # signs of life in one step
MOST = 1_000_000  # of either limit
LONGEST_PAUSE = 1.0  # seconds between two calls of advance_all
BITS = 52  # of a digest, as many as a score holds


Kind = Literal["none", "early", "waiting", "called", "gone"]


@dataclass(frozen=True)
class RoomState:
    """How the waiting room of a window stands at `at` (ms)."""

    at: int
    opens: int  # when its window does (ms)
    phase: str  # unknown, before, open or ended
    per_minute: int
    at_once: int
    off: bool
    line: int  # all who ever came
    called: int  # number of the last one called
    waiting: int
    inside: int
    pace: tuple[tuple[int, int], ...]  # from when on (ms), how far the line came in half a minute
    right: int  # waits within the range that was shown, and those that were not
    wrong: int
    free: int = 0  # how many more could come in now, were nobody to wait

    @property
    def paused(self) -> bool:
        """Whether an admin has paused the line."""
        return not self.off and not self.per_minute

    @property
    def full(self) -> bool:
        """Whether whoever comes now has to wait."""
        return self.phase == "open" and (self.waiting > 0 or self.free == 0)


@dataclass(frozen=True)
class QueueEntry:
    """A student's place: `early` until the order is drawn, then `waiting`, `called` or `gone`."""

    kind: Kind
    room: RoomState
    request: str = ""
    since: int = 0  # when it was taken (ms)
    number: int = 0  # in the line of all who ever came, from 1; it stays
    ahead: int = 0  # how many are called before
    ends: int = 0  # until when to come in, or to stay (ms)

    @property
    def position(self) -> int:
        """The number in line as everyone is told it: 1 is next, 0 waits no more or not yet."""
        return self.ahead + 1 if self.kind == "waiting" else 0


class SeedLost(Exception):  # noqa: N818
    """The room has another seed than it had: it lost what it knew."""


class Overtaken(Exception):  # noqa: N818  a state of the world, not a mistake
    """Somebody else has set the limits meanwhile."""


class WindowShut(Exception):  # noqa: N818  a state of the world, not a mistake
    """There is no such window, or it has ended."""


def enter(term: int, window: int, student: int) -> QueueEntry:
    """The student's place in the line, the one there was or a new one; raises WindowShut."""
    try:
        return _entered(term, window, student)
    except SeedLost:
        draw_seeds.forget()
        return _entered(term, window, student)


def look(term: int, window: int, student: int) -> QueueEntry:
    """The student's place, if any; a sign of life of whoever waits."""
    return _looks(term, window)(student)


def keep_alive(term: int, window: int, students: list[int]) -> list[int]:
    """Signs of life of many who wait; gives those who are to look, as they wait no more."""
    others: list[int] = []
    for begin in range(0, len(students), TOGETHER):
        some = students[begin : begin + TOGETHER]
        others += _ask("touch", term, window, students=some)["others"] or ()
    return others


def extend_stay(term: int, window: int, student: int) -> int | None:
    """The moment until which one who was called may stay from now on; None for all others."""
    ends: int | None = dict(_ask("stay", term, window, student=student, stay=LIFETIME)).get("ends")
    return ends


def leave(term: int, window: int, student: int) -> None:
    """Give a place or a visit up, for the next in line."""
    _ask("leave", term, window, student=student)


def advance(term: int, window: int) -> RoomState:
    """Call in those whose turn it is; whoever asks for a place does so as well."""
    return room_state(_ask("step", term, window))


def advance_term(term: int) -> float | None:
    """Call in those whose turn it is in every room of a term; gives the seconds to an opening."""
    reply = _library(backend().redis).ask("attend", term, _limits(), again=True)
    return reply["opens_in"] / 1000 if "opens_in" in reply else None


def advance_all(terms: Iterable[int]) -> float:
    """Admit whose turn it is in every room of the terms; return the seconds until the next call.

    Calling it twice does no harm, so any process may do it.
    """
    openings = [advance_term(term) for term in terms]
    return min([LONGEST_PAUSE, *(seconds for seconds in openings if seconds is not None)])


def state(term: int, window: int) -> RoomState:
    """How the room stands."""
    payload = {"window": window, **_limits()}
    return room_state(_library(backend().redis).read("state", term, payload))


def set_limits(  # noqa: PLR0913  whose, both of them, and what was seen
    term: int,
    window: int,
    per_minute: int,
    at_once: int,
    *,
    off: bool,
    seen: dict[str, Any] | None = None,
) -> RoomState:
    """Set the limits of a room while it runs; `off` lets everyone in, 0 a minute nobody.

    Raises ValueError for limits below zero or beyond MOST, and Overtaken where they are not as
    `seen` any more.
    """
    if not all(0 <= each <= MOST for each in (per_minute, at_once)):
        raise ValueError(f"Limits are numbers from 0 to {MOST}.")
    facts = {"per_minute": per_minute, "at_once": at_once, "off": off, "seen": seen}
    reply = _ask("limit", term, window, **facts)
    if "error" in reply:
        raise Overtaken
    return room_state(reply)


def record_estimate(term: int, window: int, request: str, least: int, most: int) -> None:
    """Keep the first range (ms) that was shown to a waiter, to be compared with what comes true."""
    _ask("say", term, window, request=request, least=least, most=most)


# The order of those who came early


def rank(secret: str, request: str) -> float:
    """Where a seed puts a request among the early ones, in [0, 1)."""
    digest = hashlib.sha256(f"{secret}:{request}".encode()).digest()
    return (int.from_bytes(digest[:8]) >> (64 - BITS)) / (1 << BITS)


def drawn_requests(term: int, window: int) -> list[str]:
    """The requests that came early, in the order in which they stand."""
    line = f"{_base(term, window)}:line"
    with translate_errors():
        found: Any = backend().redis.zrange(line, "-inf", "(1", byscore=True)
    return [each.decode() for each in found]


def _base(term: int, window: int) -> str:
    return f"{prefix(term)}:room:{window}"


def _entered(term: int, window: int, student: int) -> QueueEntry:
    request, secret = secrets.token_hex(16), draw_seeds.seed(term, window)
    facts = {"request": request, "seed": secret, "fraction": repr(rank(secret, request))}
    return _placed("enter", term, window, student=student, **facts)


def _placed(op: str, term: int, window: int, **payload: Any) -> QueueEntry:
    reply = _ask(op, term, window, **payload)
    if "error" in reply:
        raise SeedLost if reply["error"] == "seed" else WindowShut(reply["error"])
    return queue_entry(reply["place"], room_state(reply["state"]))


@lru_cache(maxsize=100)
def _looks(term: int, window: int) -> Batcher[int, QueueEntry]:
    return Batcher(partial(_look, term, window))


def _look(term: int, window: int, students: Sequence[int]) -> list[QueueEntry]:
    reply = _ask("places", term, window, students=students)
    state = room_state(reply["state"])
    return [queue_entry(place, state) for place in reply["places"]]


def _ask(op: str, term: int, window: int, **payload: Any) -> Any:
    facts = {"window": window, **_limits(), **payload}
    try:
        return _library(backend().redis).ask(op, term, facts, again=True)
    except LedgerSilent as error:  # asked again, it does the same: there is nothing to be unsure of
        raise LedgerUnavailable(str(error)) from error


def _limits() -> dict[str, Any]:
    """The limits of rooms for which an admin has set none; and whether all rooms are `open`."""
    per_minute, at_once = backend().settings.room or (0, 0)
    switched_off = None if flags.on("waiting_room") else True
    return {"per_minute": per_minute, "at_once": at_once, "open": switched_off}


@lru_cache(maxsize=4)
def _library(redis: Redis) -> FunctionLibrary:
    return FunctionLibrary(redis, "room", CODE, replicas=backend().settings.replicas)


def room_state(state: dict[str, Any]) -> RoomState:
    """How a room stands, as its functions say it."""
    facts = {name: state[name] for name in RoomState.__dataclass_fields__ if name in state}
    facts.pop("pace")
    return RoomState(**facts, pace=tuple(sorted((at, count) for at, count in state["pace"] or ())))


def queue_entry(facts: Any, room: RoomState) -> QueueEntry:
    """A place in a room that stands so, as its functions say it."""
    return QueueEntry(**{"kind": "none", **dict(facts or {})}, room=room)
