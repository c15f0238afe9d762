"""Runner of the subjects: each is a module whose `figures(run, quick=...)` returns figures by name.

A module's FIGURES give the unit and the description of each figure. Its docstring says how they
are measured; docs/benchmarks.md shows it.
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

from bench.figures import Figure, Figures, figure, missing

ROOT = Path(__file__).resolve().parent.parent
RUNS = 3
LONGEST = 1800  # timeout of a row, seconds
# Each row runs in its own process; the subjects of a row share its servers and take turns.
SUBJECTS = (
    ("claims", "hot"),
    ("pages", "logins"),
    ("rush",),
    ("claim_cost",),
    ("submissions",),
    ("record",),
    ("lag",),
    ("pushes",),
    ("scale",),
    ("waits",),
    ("waiters",),
    ("allocation",),
    ("rounds",),
)
# For quick runs, whose values do not matter: subjects that need the same servers share them.
QUICK = (
    ("claims", "hot", "pages", "logins"),
    ("rush", "lag"),
    ("waiters", "pushes"),
    ("claim_cost", "submissions"),
    ("scale", "waits", "allocation", "record", "rounds"),
)


def all_measured(folder: Path, runs: int, *, quick: bool) -> dict[str, Figure]:
    """Return the figures of all subjects.

    A subject that fails or times out gives the figures that it had written by then.
    """

    def of_row(row: tuple[str, ...]) -> dict[str, Figure]:
        began, path = time.monotonic(), folder / f"{row[0]}.json"
        how = ["--runs", str(runs), "--json", str(path), *(["--quick"] if quick else [])]
        try:
            subprocess.run(
                [sys.executable, "-m", "bench", *row, *how], cwd=ROOT, check=True, timeout=LONGEST
            )
        except subprocess.SubprocessError as error:
            print(error, flush=True)
        found: dict[str, Figure] = {name: missing("", "a subject", "not begun") for name in row}
        if path.exists():
            found = json.loads(path.read_text())
        print(f"{', '.join(row)}: {time.monotonic() - began:.0f} s", flush=True)
        return found

    with ThreadPoolExecutor(len(QUICK) if quick else 1) as pool:  # a quick run: all at once
        rows = list(pool.map(of_row, QUICK if quick else SUBJECTS))
    return {name: each for row in rows for name, each in row.items()}


def measured(
    names: Sequence[str],
    runs: int,
    *,
    quick: bool,
    keep: Callable[[Figures], object] = lambda _: None,
) -> dict[str, Figure]:
    """Return the figures of some subjects, measured in turns in this process.

    `keep` gets the figures so far: once before the first run, then after each run.
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
                except (Exception, SystemExit) as error:  # noqa: BLE001  reported
                    traceback.print_exc()
                    failed[name] = f"{type(error).__name__}: {error}"
                keep(so_far())
    return so_far()


def _figures(module: ModuleType, runs: list[dict[str, float]], failed: str) -> dict[str, Figure]:
    """Return a subject's figures over its runs; all are missing if one of the runs failed."""
    figures = module.FIGURES
    if failed or not runs:
        return {name: missing(*each, failed or "not finished") for name, each in figures.items()}
    return {name: figure([run[name] for run in runs], *each) for name, each in figures.items()}
