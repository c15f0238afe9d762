"""Counts of recent outcomes, made by the ledger within its decisions, for all nodes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import cycle, product
from typing import Any

from redis import Redis

from portal.core import recent_slots
from portal.core.recent_slots import MINUTE, SLOT
from portal.ledger.client import Ledger
from portal.ledger.function_library import prefix

CLAIMS = ("enrolled", "waitlisted", "refused claim")
SEATS = ("enrolled", "promoted")
REASON = "reason "

Counts = Counter[str]


@dataclass(frozen=True)
class Tally:
    """Outcomes in slots of ten seconds, oldest first; the last one is in progress at `at`."""

    at: int  # ms
    slots: tuple[Counts, ...]

    @property
    def rate(self) -> float:
        """Return claims per second over the last ten seconds.

        The previous slot counts by the share that falls into them, so nothing jumps between slots.
        """
        return self._lately(CLAIMS, SLOT) * 1000 / SLOT

    @property
    def seats_per_minute(self) -> float:
        """Return the seats given in the last minute, from waitlists too."""
        return self._lately(SEATS, MINUTE)

    @property
    def seats_by_minute(self) -> list[tuple[int, int]]:
        """Return the seats given in each minute of the clock, with its begin (ms)."""
        minutes = recent_slots.by_minute(self.at, self.slots)
        return [(begin, _sum(counts, SEATS)) for begin, counts in minutes]

    @property
    def total(self) -> Counts:
        """Return the sum of all outcomes."""
        return sum(self.slots, Counter())

    @property
    def claims(self) -> int:
        """Return how many claims were decided."""
        return _sum(self.total, CLAIMS)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Return the codes of refusals and how often each was given, the most frequent first."""
        total = self.total
        given = Counter(
            {what.removeprefix(REASON): total[what] for what in total if what.startswith(REASON)}
        )
        return given.most_common()

    def _lately(self, outcomes: Iterable[str], span: int) -> float:
        """Return how many there were in the last `span` ms."""
        *whole, now = (_sum(slot, outcomes) for slot in self.slots[-span // SLOT - 1 :])
        return now + sum(whole) - whole[0] * (self.at % SLOT / SLOT)


def tally(ledger: Ledger, terms: Iterable[int], at: int, window: int | None = None) -> Tally:
    """Return the outcomes in these terms, or in one window, in the quarter of an hour until `at`.

    Decisions outside of all windows, such as those of an admin, count with the terms alone.
    """
    slots = recent_slots.recent(at)

    def ask(redis: Redis, mine: list[int]) -> list[Any]:
        with redis.pipeline(transaction=False) as pipe:
            for term, slot in product(mine, slots):
                pipe.hgetall(f"{prefix(term)}:tally:{slot}")
            return pipe.execute()

    totals: list[Counts] = [Counter() for _ in slots]
    for total, found in zip(cycle(totals), ledger.ask_servers(terms, ask), strict=False):
        total.update(_counts(found, window))
    return Tally(at, tuple(totals))


def _counts(found: Any, window: int | None) -> Counts:
    counts: Counts = Counter()
    for field, count in found.items():
        during, _, what = field.decode().partition(" ")
        if window is None or during == str(window):
            counts[what] += int(count)
    return counts


def _sum(slot: Counts, outcomes: Iterable[str]) -> int:
    return sum(slot[what] for what in outcomes)
