"""A part of an opening, played: which queues form where the sum says that there is room.

The waiting room lets students in once a second, who all ask for the picker within a second; the
rest of what those who are in do comes by chance. Each request goes to a web core by chance, claims
and pages alike, and waits there for those before it. How long each takes is by chance as well, at
the mean that was measured (exponential). Then the ledger decides claim after claim, and flushes.
"""

from collections.abc import Iterator
from random import Random

from bench.needs import CLAIMS, MINUTES, PAGES, Costs, Plan

REQUESTS = 100_000  # at most
BURST = 1.0  # seconds in which all who were let in together ask

Asked = tuple[float, str]  # when, and for what


def answered(plan: Plan, of: Costs, seed: int = 1) -> tuple[float, float]:
    """Seconds in which half, and 99 of 100 claims are answered."""
    dice = Random(seed)
    step, free, waits = (plan.deciding + plan.telling) / plan.claims, 0.0, []
    for reached, asked in sorted(_by_web(plan, of, dice)):
        free = max(free, reached) + _takes(step, dice)
        waits.append(free + dice.uniform(1, 2) * of.flush - asked)
    waits.sort()
    return waits[len(waits) // 2], waits[len(waits) * 99 // 100]


def _by_web(plan: Plan, of: Costs, dice: Random) -> Iterator[tuple[float, float]]:
    """When each claim reaches the ledger, and when it was asked."""
    costs = of.pages | {"claim": of.claim}
    cores = [0.0] * plan.cores
    for at, what in sorted(_requests(plan, dice)):
        core = int(dice.random() * plan.cores)
        cores[core] = max(cores[core], at) + _takes(costs[what], dice)
        if what == "claim":
            yield cores[core], at


def _requests(plan: Plan, dice: Random) -> Iterator[Asked]:
    """What is asked, in no order: of each who is let in a picker at once, the rest by chance."""
    a_second = plan.students / (MINUTES * 60)
    each = PAGES | {"claim": CLAIMS}
    seconds = min(MINUTES * 60, int(REQUESTS / (a_second * sum(each.values()))))
    for number in range(int(seconds * a_second)):
        yield int(number / a_second) + BURST * dice.random(), "picker"
        for what, times in each.items():
            for _ in range(times - (what == "picker")):
                yield seconds * dice.random(), what


def _takes(mean: float, dice: Random) -> float:
    return dice.expovariate(1 / mean)
