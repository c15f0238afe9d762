"""Meters of elapsed time, and of processor time in the web processes, scheduler and ledger."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field

import psutil

from portal.runtime.child_process import Child


@dataclass
class Cost:
    """Processor seconds `spent` by each kind of process, in `took` seconds."""

    took: float = 0.0
    spent: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.spent.values())


def seconds(work: Callable[[], object]) -> float:
    """Return how many seconds a function takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


Meter = Callable[[], AbstractContextManager[Cost]]


def meter_of(web: Child, scheduler: Child) -> Meter:
    """Return a context manager that measures the processor time of web, scheduler and ledger."""
    everyone = psutil.Process().children(recursive=True)
    named = {
        each.process.pid: name
        for name, each in (("web", web), ("scheduler", scheduler))
        if each.process
    }
    counted = {each: named.get(each.pid) or named.get(each.ppid()) for each in everyone}
    counted |= {each: "ledger" for each in everyone if "valkey" in each.name()}

    def spent() -> dict[str, float]:
        total = dict.fromkeys(("web", "scheduler", "ledger"), 0.0)
        for process, name in counted.items():
            if name:
                times = process.cpu_times()
                total[name] += times.user + times.system
        return total

    @contextmanager
    def meter() -> Iterator[Cost]:
        cost, before, began = Cost(), spent(), time.monotonic()
        yield cost
        cost.took = time.monotonic() - began
        cost.spent = {name: round(now - before[name], 2) for name, now in spent().items()}

    return meter
