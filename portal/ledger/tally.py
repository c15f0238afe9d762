"""Counts of recent outcomes, made by the ledger within its decisions, for all nodes."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from redis import Redis

from portal.ledger.function_library import prefix, translate_errors

SLOT = 10_000  # ms, as in portal/ledger/functions/term.lua
SLOTS = 90  # completed slots: a quarter of an hour
CLAIMS = ("enrolled", "waitlisted", "refused claim")
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
        before, now = map(_claims, self.slots[-2:])
        return (now + before * (1 - self.at % SLOT / SLOT)) * 1000 / SLOT

    @property
    def rates(self) -> list[float]:
        """Return claims per second in each completed slot."""
        return [_claims(slot) * 1000 / SLOT for slot in self.slots[:-1]]

    @property
    def total(self) -> Counts:
        """Return the sum of all outcomes."""
        return sum(self.slots, Counter())

    @property
    def claims(self) -> int:
        """Return how many claims were decided."""
        return _claims(self.total)

    @property
    def reasons(self) -> list[tuple[str, int]]:
        """Return the codes of refusals and how often each was given, the most frequent first."""
        total = self.total
        given = Counter(
            {what.removeprefix(REASON): total[what] for what in total if what.startswith(REASON)}
        )
        return given.most_common()


def tally(redis: Redis, terms: Iterable[int], at: int) -> Tally:
    """Return the outcomes in all terms in the quarter of an hour until `at` (ms)."""
    terms, last = list(terms), at // SLOT
    slots = range(last - SLOTS, last + 1)
    with translate_errors(), redis.pipeline(transaction=False) as pipe:
        for slot in slots:
            for term in terms:
                pipe.hgetall(f"{prefix(term)}:tally:{slot}")
        replies = iter(pipe.execute())
    return Tally(at, tuple(sum((_counts(next(replies)) for _ in terms), Counter()) for _ in slots))


def _counts(found: Any) -> Counts:
    return Counter({what.decode(): int(count) for what, count in found.items()})


def _claims(slot: Counts) -> int:
    return sum(slot[what] for what in CLAIMS)
