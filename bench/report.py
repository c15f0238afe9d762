"""docs/benchmarks.md, written from the results so that no figure is typed by hand."""

import statistics
from pathlib import Path
from typing import TypedDict


class Figure(TypedDict):
    """A median of some runs with their spread."""

    value: float
    low: float
    high: float
    runs: int
    unit: str
    what: str


def figure(values: list[float], unit: str, what: str) -> Figure:
    """The median of some runs with their spread."""
    return {
        "value": statistics.median(values),
        "low": min(values),
        "high": max(values),
        "runs": len(values),
        "unit": unit,
        "what": what,
    }


HEAD = """# Benchmarks

Written by `make bench`, which runs everything on one machine, the load generator included; medians
of {runs} runs, lowest and highest beside them. {machine}

| figure | median | lowest to highest | unit | what |
|---|---|---|---|---|
"""

TAIL = """
## What is measured

`bench/baselines/hello.py`, a Flask app that returns "hello", and the portal run under the same
gunicorn settings with the same number of workers, one after the other in each run, asked by the
same generator (`bench/load.py`) over {connections} kept-alive connections. The portal's side is a
rush: {students} students, logged in, each claim {each} of {sections} sections with {seats} seats.
Each claim passes pass, ticket, session, CSRF, limits and rules, is decided by the ledger, whose
append-only file is flushed to disk before it answers, is journaled and published, and is answered
with rendered fragments; meanwhile the workers record and promote, and after each run `fairseat
audit` must be clean. The same rush is then run against a web server whose gate is off, and claims
without a pass are sent to the one whose gate is on: each of the students' few are refused in words,
those of a script that goes on are refused in one line. No refusal asks Redis or PostgreSQL.

What a claim costs (`bench/claim_cost.py`, which by itself prints it): processor time, which other
work on the machine changes less. 500 students with three claims each, of which the first 500 warm
the process, handed to the application in one process that is patched by gevent, with log, metrics
and caches as a server has them after its start; the bare hello is asked 5,000 times in the same
process. HTTP, the network and the recording of claims are in neither, but in `claim_vs_hello`; the
ledger's is the processor time of its whole process.

Waits (`bench/waits.py`, which by itself names each rush): nine kinds of rushes, from 8,000 students
before the opening to a line that never ends, with visits of one to ten minutes that are left or
just stopped, and a share that gives up, run through the plain room that the tests hold the real one
against. The ranges were chosen on such rushes, so these shares flatter them.

Waiters (`bench/waiters.py`): 10,000 places in a real room, 2,000 of them with an open socket. What
is counted is the processor time of two web processes, the clock and the ledger, for 10,000 such
pages. A page is told the less often the longer the line, and counts on by itself meanwhile.
"""


def write(path: Path, figures: dict[str, Figure], **facts: object) -> None:
    """Write the page."""
    runs = max(figure["runs"] for figure in figures.values())
    rows = [
        f"| `{name}` | {each['value']:.3g} | {each['low']:.3g} to {each['high']:.3g}"
        f" | {each['unit']} | {each['what']} |"
        for name, each in figures.items()
    ]
    text = HEAD.format(runs=runs, **facts) + "\n".join(rows) + "\n" + TAIL.format(**facts)
    path.write_text(text)
