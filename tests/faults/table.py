"""The table of docs/reliability.md, between its marks."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median

from tests.faults.row import Row

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reliability.md"
BEGIN, END = "<!-- faults -->", "<!-- /faults -->"
HEAD = (
    "| fault | decided | refused for now | unknown, then known | nobody answered, s |"
    " longest wait, s | recorded after, s | lost | oversold | out of order | twice |"
    " wrong answers | green |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|"
)
KINDS = ("lost", "oversold", "order", "twice", "odd")


def write(rows: Iterable[Row]) -> None:
    """Put the rows in their place."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    by_fault = defaultdict[str, list[Row]](list)
    for row in rows:
        by_fault[row.fault].append(row)
    lines = [_line(fault, those) for fault, those in by_fault.items()]
    PAGE.write_text("\n".join([f"{before}{BEGIN}", HEAD, *lines, f"{END}{after}"]))


def _line(fault: str, rows: Sequence[Row]) -> str:
    sums = [sum(getattr(row, name) for row in rows) for name in ("decided", "away", "unknown")]
    times = [median(getattr(row, name) for row in rows) for name in ("silence", "wait", "recorded")]
    wrong = [sum(len(getattr(row.verdict, kind)) for row in rows) for kind in KINDS]
    cells = [*map(str, sums), *(f"{each:.1f}" for each in times), *map(str, wrong)]
    green = sum(row.green for row in rows)
    return f"| {fault} | {' | '.join(cells)} | {green} of {len(rows)} |"
