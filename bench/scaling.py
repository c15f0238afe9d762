"""Sizing for very many students, and the first limit they reach: `python bench/scaling.py`.

bench/report.py writes the results between marks in docs/scaling.md and docs/operators-guide.md.
"""

import json
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]

from bench import queues  # noqa: E402
from bench.needs import MINUTES, Costs, Figures, Plan, costs, limits, most, plan  # noqa: E402

STUDENTS = (50_000, 1_000_000, 10_000_000)
ONE_PORTAL = (5000, 20_000, 50_000)
MACHINE = 8  # cores
SHOWN: dict[str, Callable[[Plan], str]] = {
    "students": lambda each: f"{each.students:,}",
    "admissions a minute": lambda each: f"{each.students / MINUTES:,.0f}",
    "claims a second": lambda each: f"{each.claims:,.0f}",
    "pages a second": lambda each: f"{each.pages:,.0f}",
    "web cores, a process on each": lambda each: f"{each.cores:,}",
    "share of pages in their work": lambda each: f"{each.paging:.0%}",
    "load of the ledger's core": lambda each: f"{each.ledger:.0%}",
    "cores for workers and PostgreSQL": lambda each: f"{each.recording:,}",
    "memory of all web nodes for open pages": lambda each: f"{each.memory:.1f} GB",
}
BEGIN, END = "<!-- written by bench/scaling.py -->", "<!-- until here -->"


def table(found: Figures) -> str:
    """Return what very many students need, and a term's limits; "" if a cost is missing."""
    of = costs(found)
    if of is None:
        return ""
    ends = limits(of)
    first = min(ends, key=lambda name: ends[name])
    head = ("students", "portals", "students of each", "claims/s", "web cores", "ledger load")
    rows = [_of_portals(each, ends[first], of) for each in STUDENTS]
    parts = [(name, f"{students:,}") for name, students in ends.items()]
    return "\n\n".join(
        (
            _lines((*head, "recording cores", "open pages", "median", "99th percentile"), *rows),
            f"Pages are {plan(STUDENTS[0], of).paging:.0%} of the web cores' work.",
            _lines(("part of a term", "students it can serve"), *parts),
            f"So the first limit is {first}, at {ends[first]:,} students of one term.",
        )
    )


def one_portal(found: Figures) -> str:
    """Return what a portal on one or a few machines needs; "" if a cost is missing."""
    of = costs(found)
    if of is None:
        return ""
    plans = [plan(each, of) for each in ONE_PORTAL]
    machine = most(of, lambda each: each.cores + each.recording + 1 <= MACHINE)
    return (
        f"{_lines(*_rows(plans))}\n\n"
        f"One machine of {MACHINE} cores, one of them for the ledger, serves {machine:,} students."
    )


PLACES = {"docs/scaling.md": table, "docs/operators-guide.md": one_portal}


def write(root: Path, found: Figures) -> None:
    """Write both texts into their pages."""
    for path, content in PLACES.items():
        if text := content(found):
            (root / path).write_text(put((root / path).read_text(encoding="utf-8"), text))


def put(page: str, text: str) -> str:
    """Return the page with this text between its marks."""
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    return f"{before}{BEGIN}\n{text}\n{END}{after}"


def _of_portals(students: int, most_of_one: int, of: Costs) -> tuple[str, ...]:
    portals = math.ceil(students / most_of_one)
    each = plan(math.ceil(students / portals), of)
    half, nearly_all = queues.answered(each, of)
    return (
        f"{students:,}",
        f"{portals:,}",
        f"{each.students:,}",
        f"{each.claims:,.0f}",
        f"{each.cores:,}",
        f"{each.ledger:.0%}",
        f"{each.recording:,}",
        f"{each.memory:,.1f} GB",
        f"{half * 1000:.0f} ms",
        f"{nearly_all * 1000:.0f} ms",
    )


def _rows(plans: Sequence[Plan]) -> Iterator[tuple[str, ...]]:
    for name, shown in SHOWN.items():
        yield (name, *map(shown, plans))


def _lines(head: Sequence[str], *rows: Sequence[str]) -> str:
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows))


def main() -> None:
    """Print both texts."""
    found = json.loads((ROOT / "bench/results.json").read_text(encoding="utf-8"))
    for places in PLACES.values():
        print(places(found), end="\n\n")


if __name__ == "__main__":
    main()
