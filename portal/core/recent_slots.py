"""Counts of the last quarter of an hour, kept in Redis in slots of ten seconds for all nodes."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

Key = TypeVar("Key")

SLOT = 10_000  # ms, as in portal/ledger/functions/term.lua
SLOTS = 90  # completed slots: a quarter of an hour
KEPT = 20 * 60_000  # ms until a slot expires
MINUTE = 60_000  # ms
MINUTES = 15


def recent(at: int) -> range:
    """Return the numbers of the slots until `at` (ms); the last one is in progress."""
    last = at // SLOT
    return range(last - SLOTS, last + 1)


def by_minute(at: int, slots: Sequence[Counter[Key]]) -> list[tuple[int, Counter[Key]]]:
    """Return the counts of each minute of the clock, with its begin (ms); the last may go on."""
    minutes: dict[int, Counter[Key]] = {}
    for number, slot in zip(recent(at), slots, strict=True):
        minutes.setdefault(number * SLOT // MINUTE * MINUTE, Counter()).update(slot)
    return sorted(minutes.items())[-MINUTES:]


def last_minute(slots: Sequence[Counter[Key]]) -> Counter[Key]:
    """Return the counts of the slot in progress and of the minute before it."""
    return sum(slots[-MINUTE // SLOT - 1 :], Counter[Key]())
