"""What very many students need, and where the first limit is: `python bench/scaling.py`.

From the costs in bench/results.json: cores of web nodes, of ledgers and of what records, and the
memory of open pages, each with as much again to spare. Then a small simulation plays a part of that
opening on so many cores and ledgers, to see whether queues form where the sum says there is room.
"""

import heapq
import itertools
import json
import math
import os
import random
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STUDENTS = (50_000, 1_000_000, 10_000_000)
CLAIMS, PAGES = 7, 10  # of one student: five seats, two places; lobby, picker, searches
MINUTES = 10  # over which the waiting room spreads everyone
SPARE = 2  # times what is needed
SIMULATED = 400_000  # claims
MICRO = 1e-6


@dataclass(frozen=True)
class Costs:
    """Seconds of a core for one of each, and KB of a page that is open."""

    claim: float
    page: float
    ledger: float
    listener: float  # of the ledger, for each web process that is told of a claim
    record: float
    flush: float  # of the append-only file, for all claims that came meanwhile
    socket: float


@dataclass(frozen=True)
class Plan:
    """What an opening needs."""

    students: int
    claims: float  # a second
    cores: int  # of web nodes
    ledgers: int
    recorders: int  # cores of workers and PostgreSQL
    memory: float  # GB, of open pages


def costs() -> Costs:
    """As measured last, and how long this disk takes to flush."""
    told = json.loads((ROOT / "bench/results.json").read_text())
    found = {name: each["value"] for name, each in told.items()}
    return Costs(
        claim=found["claim_took_web_us"] * MICRO,
        page=found["hello_took_us"] * MICRO / found["picker_vs_hello"],
        ledger=found["claim_took_ledger_us"] * MICRO * found["scale_claim"],
        listener=found["claim_listener_us"] * MICRO,
        record=(found["claim_took_workers_us"] + found["claim_took_postgres_us"]) * MICRO,
        flush=flush(),
        socket=found["socket_page_kb"],
    )


def flush(times: int = 50) -> float:
    """Seconds, the median, until a little more of a file is on the disk."""
    took = []
    with tempfile.TemporaryFile() as file:
        for _ in range(times):
            file.write(b"x" * 4096)
            file.flush()
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - began)
    return statistics.median(took)


def plan(students: int, of: Costs) -> Plan:
    """What so many students need, if all come to one opening."""
    claims = students * CLAIMS / (MINUTES * 60)
    pages = students * PAGES / (MINUTES * 60)
    cores = math.ceil(SPARE * (claims * of.claim + pages * of.page))
    return Plan(
        students=students,
        claims=claims,
        cores=cores,
        ledgers=math.ceil(SPARE * claims * decided(of, cores)),
        recorders=math.ceil(SPARE * claims * of.record),
        memory=students * of.socket / 2**20,
    )


def decided(of: Costs, cores: int) -> float:
    """Seconds of a ledger for a claim that a process on each core is told of."""
    return of.ledger + cores * of.listener


def simulate(given: Plan, of: Costs, seed: int = 1) -> tuple[float, float]:
    """Seconds in which half, and 99 of 100 claims are answered."""
    dice = random.Random(seed)
    at, waits = 0.0, []
    cores = [0.0] * max(1, round(given.cores * share(of)))
    ledgers, step = [0.0] * given.ledgers, decided(of, given.cores)
    for _ in range(SIMULATED):
        at += dice.expovariate(given.claims)
        free = max(at, heapq.heappop(cores))
        heapq.heappush(cores, free + of.claim)
        chosen = dice.randrange(given.ledgers)  # a term lives in one, whoever asks
        ledgers[chosen] = max(ledgers[chosen], free + of.claim) + step
        waits.append(ledgers[chosen] + dice.uniform(1, 2) * of.flush - at)
    waits.sort()
    return waits[len(waits) // 2], waits[len(waits) * 99 // 100]


def share(of: Costs) -> float:
    """The part of the web's work that is claims."""
    claims, pages = CLAIMS * of.claim, PAGES * of.page
    return claims / (claims + pages)


def first_limit(of: Costs, step: int = 1000) -> int:
    """The most students of one term, all told of everything, whom one ledger serves."""
    return next(each for each in itertools.count(step, step) if plan(each + step, of).ledgers > 1)


def main() -> None:
    """Print the table of docs/scaling.md."""
    of = costs()
    print("| students | claims/s | web cores | ledgers | recording | open pages | half | 99 % |")
    print("|---|---|---|---|---|---|---|---|")
    for students in STUDENTS:
        each = plan(students, of)
        half, most = simulate(each, of)
        cells = (
            f"{students:,}",
            f"{each.claims:,.0f}",
            f"{each.cores:,}",
            f"{each.ledgers:,}",
            f"{each.recorders:,} cores",
            f"{each.memory:,.1f} GB",
            f"{half * 1000:.0f} ms",
            f"{most * 1000:.0f} ms",
        )
        print(f"| {' | '.join(cells)} |")
    print(f"\nOne ledger is enough for a term of {first_limit(of):,} students.")


if __name__ == "__main__":
    main()
