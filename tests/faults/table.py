"""The results in docs/faults.json, and their table in docs/reliability.md, between its marks."""

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.faults.faults import FAULTS
from tests.faults.run import Row

DOCS = Path(__file__).resolve().parents[2] / "docs"
BEGIN, END = "<!-- faults -->", "<!-- /faults -->"
HEAD = (
    "| fault | decided | refused for now | unknown, then known | no answer, s |"
    " longest wait, s | recorded after, s | lost | oversold | out of order | twice |"
    " wrong answers | wrong mails | green |\n|" + 14 * "---|"
)
SUMS = ("decided", "away", "unknown")
TIMES = ("silence", "wait", "recorded")
KINDS = ("lost", "oversold", "order", "twice", "odd", "mails")

Figures = dict[str, Any]


@dataclass
class Results:
    """What came of each fault in each round, kept so that a run goes on where one ended."""

    docs: Path = DOCS
    rows: list[Figures] = field(default_factory=list)

    def read(self) -> None:
        """Take up what is kept."""
        self.rows = json.loads(self._file.read_text()) if self._file.exists() else []

    def forget(self, names: Iterable[str]) -> None:
        """Let these faults take their turn again."""
        gone = set(names)
        self.rows = [row for row in self.rows if row["fault"] not in gone]

    def lacks(self, name: str, number: int) -> bool:
        """Return whether a fault has not had its turn in that round."""
        return not any((row["fault"], row["round"]) == (name, number) for row in self.rows)

    @property
    def green(self) -> bool:
        """Return whether all that is kept is."""
        return all(row["green"] for row in self.rows)

    def add(self, row: Row) -> None:
        """Keep it, and write the table."""
        self.rows.append(row.figures())
        order = [fault.name for fault in FAULTS]
        known = [each for each in self.rows if each["fault"] in order]
        self.rows = sorted(known, key=lambda each: (order.index(each["fault"]), each["round"]))
        lines = ",\n".join(map(json.dumps, self.rows))
        self._file.write_text(f"[\n{lines}\n]\n")
        page = self.docs / "reliability.md"
        page.write_text(_with_table(page.read_text(), self.rows))

    @property
    def _file(self) -> Path:
        return self.docs / "faults.json"


def _with_table(page: str, rows: Iterable[Figures]) -> str:
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    by_fault = defaultdict[str, list[Figures]](list)
    for row in rows:
        by_fault[row["fault"]].append(row)
    lines = [_line(fault, those) for fault, those in by_fault.items()]
    return "\n".join([f"{before}{BEGIN}", HEAD, *lines, f"{END}{after}"])


def _line(fault: str, rows: Sequence[Figures]) -> str:
    sums = [sum(row[name] for row in rows) for name in SUMS]
    times = [median(row[name] for row in rows) for name in TIMES]
    wrong = [sum(row[kind] for row in rows) for kind in KINDS]
    cells = [*map(str, sums), *(f"{each:.1f}" for each in times), *map(str, wrong)]
    green = sum(row["green"] for row in rows)
    return f"| {fault} | {' | '.join(cells)} | {green} of {len(rows)} |"
