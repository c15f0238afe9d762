"""Simulation of a part of an opening: the queues that form even if the average load is low enough.

The waiting room admits students once a second, and all of them request the picker within a second.
Their other requests come at random times. Each request, for a claim or a page, goes to a random
web core and waits there for the requests before it. Service times are exponential with the
measured mean. Then the ledger decides one claim after another, and flushes.
"""

from collections.abc import Iterator
from random import Random

from bench.needs import CLAIMS, MINUTES, PAGES, Costs, Plan

REQUESTS = 100_000  # at most
BURST = 1.0  # seconds in which all students who are admitted together request the picker

Request = tuple[float, str]  # time, and kind of request


def answered(plan: Plan, of: Costs, seed: int = 1) -> tuple[float, float]:
    """Return the median and the 99th percentile of the response time of claims, in seconds."""
    dice = Random(seed)
    step, free, waits = (plan.deciding + plan.telling) / plan.claims, 0.0, []
    for reached, kind in sorted(_by_web(plan, of, dice)):
        free = max(free, reached) + _takes(step, dice)
        waits.append(free + dice.uniform(1, 2) * of.flush - kind)
    waits.sort()
    return waits[len(waits) // 2], waits[len(waits) * 99 // 100]


def _by_web(plan: Plan, of: Costs, dice: Random) -> Iterator[tuple[float, float]]:
    """Yield the time at which each claim reaches the ledger, and the time it was sent."""
    costs = of.pages | {"claim": of.claim}
    cores = [0.0] * plan.cores
    for at, what in sorted(_requests(plan, dice)):
        core = int(dice.random() * plan.cores)
        cores[core] = max(cores[core], at) + _takes(costs[what], dice)
        if what == "claim":
            yield cores[core], at


def _requests(plan: Plan, dice: Random) -> Iterator[Request]:
    """Yield all requests, unordered: a picker per admitted student, the rest at random times."""
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
