"""What is measured: a module each, whose `figures(run, quick=...)` gives a run's figures by name.

Its FIGURES say the unit of each and what it is, and its docstring, which docs/benchmarks.md shows,
how.
"""

import json
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from types import ModuleType

from bench.report import Figure, Figures, figure, missing

ROOT = Path(__file__).resolve().parent.parent
RUNS = 3
LONGEST = 1800  # seconds of a row
# Each row is a process of its own; those in one row share its servers and run by turns.
SUBJECTS = (
    ("claims", "hot"),
    ("pages", "logins"),
    ("rush",),
    ("claim_cost",),
    ("record",),
    ("lag",),
    ("pushes",),
    ("scale",),
    ("waits",),
    ("waiters",),
)
# Where figures do not matter, only that there are some: what runs against one site shares it.
QUICK = (
    ("claims", "hot", "pages", "logins", "lag", "rush"),
    ("waiters",),
    ("pushes",),
    ("record",),
    ("claim_cost",),
    ("scale",),
    ("waits",),
)


def all_measured(folder: Path, runs: int, *, quick: bool) -> dict[str, Figure]:
    """The figures of all subjects; of those that fail or take too long, what there was by then."""

    def of_row(row: tuple[str, ...]) -> dict[str, Figure]:
        began, told = time.monotonic(), folder / f"{row[0]}.json"
        how = ["--runs", str(runs), "--json", str(told), *(["--quick"] if quick else [])]
        try:
            subprocess.run(
                [sys.executable, "-m", "bench", *row, *how], cwd=ROOT, check=True, timeout=LONGEST
            )
        except subprocess.SubprocessError as error:
            print(error, flush=True)
        found: dict[str, Figure] = {name: missing("", "a subject", "not begun") for name in row}
        if told.exists():
            found = json.loads(told.read_text())
        print(f"{', '.join(row)}: {time.monotonic() - began:.0f} s", flush=True)
        return found

    with ThreadPoolExecutor(len(QUICK) if quick else 1) as pool:  # quickly, all at once
        rows = list(pool.map(of_row, QUICK if quick else SUBJECTS))
    return {name: each for row in rows for name, each in row.items()}


def measured(
    names: Sequence[str],
    runs: int,
    *,
    quick: bool,
    keep: Callable[[Figures], object] = lambda _: None,
) -> dict[str, Figure]:
    """The figures of some subjects, which are measured by turns in this process.

    Those so far are kept, first that none has been measured, then after each run.
    """
    modules = {name: import_module(f"bench.{name}") for name in names}
    found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    failed: dict[str, str] = {}

    def so_far() -> dict[str, Figure]:
        rows = (_figures(modules[name], found[name], failed.get(name, "")) for name in names)
        return {name: each for row in rows for name, each in row.items()}

    keep(so_far())
    for run in range(1 if quick else runs):
        for name, module in modules.items():
            if name not in failed:
                try:
                    found[name].append(module.figures(run, quick=quick))
                except (Exception, SystemExit) as error:  # noqa: BLE001  told, and the others go on
                    traceback.print_exc()
                    failed[name] = f"{type(error).__name__}: {error}"
                keep(so_far())
    return so_far()


def _figures(module: ModuleType, runs: list[dict[str, float]], failed: str) -> dict[str, Figure]:
    """The median of each with its spread; that it is missing where a run of its subject failed."""
    told = module.FIGURES
    if failed or not runs:
        return {name: missing(*each, failed or "not finished") for name, each in told.items()}
    return {name: figure([run[name] for run in runs], *each) for name, each in told.items()}
