"""The waiting room's Python face: each call is one step, by the ledger's clock (ms)."""

import hashlib
import re
import secrets
from collections.abc import Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from redis import Redis

from portal.backend import backend
from portal.core import flags
from portal.gate.passes import STAY
from portal.gate.places import Place, Room, place_of, room_of
from portal.gate.together import Together
from portal.seats import replicas
from portal.seats.errors import LedgerSilent, LedgerUnavailable
from portal.seats.library import Library, joined, prefix, reached

# In this order, as each knows those before it.
PARTS = ("room", "places", "calling", "doors")
CODE = joined(Path(__file__).with_name("functions"), PARTS)
# The numbers that the room goes by, such as PATIENCE: most are ms.
RULE = re.compile(r"^local ([A-Z]+) = (\d+)", re.MULTILINE)
RULES = {name: int(number) for name, number in RULE.findall(CODE)}
TOGETHER = 1000  # signs of life in one step
MOST = 1_000_000  # of either limit
BITS = 52  # of a digest, as many as a score holds


class SeedLost(Exception):  # noqa: N818
    """The room has another seed than it had: it lost what it knew."""


class Overtaken(Exception):  # noqa: N818  a state of the world, not a mistake
    """Somebody else has set the limits meanwhile."""


class WindowShut(Exception):  # noqa: N818  a state of the world, not a mistake
    """There is no such window, or it has ended."""


def enter(term: int, window: int, student: int) -> Place:
    """The student's place in the line, the one there was or a new one; raises WindowShut."""
    try:
        return _entered(term, window, student)
    except SeedLost:
        _seed.cache_clear()
        return _entered(term, window, student)


def look(term: int, window: int, student: int) -> Place:
    """The student's place, if any; a sign of life of whoever waits."""
    return _looks(term, window)(student)


def touch(term: int, window: int, students: list[int]) -> list[int]:
    """Signs of life of many who wait; gives those who are to look, as they wait no more."""
    others: list[int] = []
    for begin in range(0, len(students), TOGETHER):
        some = students[begin : begin + TOGETHER]
        others += _ask("touch", term, window, students=some)["others"] or ()
    return others


def stay(term: int, window: int, student: int) -> int | None:
    """The moment until which one who was called may stay from now on; None for all others."""
    ends: int | None = dict(_ask("stay", term, window, student=student, stay=STAY)).get("ends")
    return ends


def leave(term: int, window: int, student: int) -> None:
    """Give a place or a visit up, for the next in line."""
    _ask("leave", term, window, student=student)


def step(term: int, window: int) -> Room:
    """Call in those whose turn it is; whoever asks for a place does so as well."""
    return room_of(_ask("step", term, window))


def attend(term: int) -> float | None:
    """Call in those whose turn it is in every room of a term; gives the seconds to an opening."""
    reply = _library(backend().redis).ask("attend", term, _limits(), again=True)
    return reply["opens_in"] / 1000 if "opens_in" in reply else None


def state(term: int, window: int) -> Room:
    """How the room stands."""
    payload = {"window": window, **_limits()}
    return room_of(_library(backend().redis).read("state", term, payload))


def set_limits(  # noqa: PLR0913  whose, both of them, and what was seen
    term: int,
    window: int,
    per_minute: int,
    at_once: int,
    *,
    off: bool,
    seen: dict[str, Any] | None = None,
) -> Room:
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
    return room_of(reply)


def say(term: int, window: int, request: str, least: int, most: int) -> None:
    """Keep the first range (ms) that was shown to a waiter, to be compared with what comes true."""
    _ask("say", term, window, request=request, least=least, most=most)


# The order of those who came early


def seed(term: int, window: int) -> str:
    """What the order of the early ones follows from, made once: a secret until the window opens."""
    return _seed(backend().redis, term, window)


def commitment(term: int, window: int) -> str:
    """The seed's SHA-256: published before, so that the seed can't be chosen afterwards."""
    return hashlib.sha256(seed(term, window).encode()).hexdigest()


def rank(secret: str, request: str) -> float:
    """Where a seed puts a request among the early ones, in [0, 1)."""
    digest = hashlib.sha256(f"{secret}:{request}".encode()).digest()
    return (int.from_bytes(digest[:8]) >> (64 - BITS)) / (1 << BITS)


def order(term: int, window: int) -> list[str]:
    """The requests that came early, in the order in which they stand."""
    line = f"{_base(term, window)}:line"
    with reached():
        found: Any = backend().redis.zrange(line, "-inf", "(1", byscore=True)
    return [each.decode() for each in found]


@lru_cache(maxsize=1000)
def _seed(redis: Redis, term: int, window: int) -> str:
    with reached(), redis.pipeline(transaction=False) as pipe:
        pipe.hsetnx(_base(term, window), "seed", secrets.token_hex(32))
        pipe.hget(_base(term, window), "seed")
        _, kept = replicas.execute(pipe, backend().settings.replicas)
    return str(kept.decode())


def _base(term: int, window: int) -> str:
    return f"{prefix(term)}:room:{window}"


def _entered(term: int, window: int, student: int) -> Place:
    request, secret = secrets.token_hex(16), seed(term, window)
    facts = {"request": request, "seed": secret, "fraction": repr(rank(secret, request))}
    return _placed("enter", term, window, student=student, **facts)


def _placed(op: str, term: int, window: int, **payload: Any) -> Place:
    reply = _ask(op, term, window, **payload)
    if "error" in reply:
        raise SeedLost if reply["error"] == "seed" else WindowShut(reply["error"])
    return place_of(reply["place"], room_of(reply["state"]))


@lru_cache(maxsize=100)
def _looks(term: int, window: int) -> Together[int, Place]:
    return Together(partial(_look, term, window))


def _look(term: int, window: int, students: Sequence[int]) -> list[Place]:
    reply = _ask("places", term, window, students=students)
    state = room_of(reply["state"])
    return [place_of(place, state) for place in reply["places"]]


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
def _library(redis: Redis) -> Library:
    return Library(redis, "room", CODE, replicas=backend().settings.replicas)
