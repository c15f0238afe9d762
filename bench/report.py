"""What was found: printed, and written to bench/results.json and docs/benchmarks.md."""

import ast
import json
import os
import statistics
from collections.abc import Mapping
from pathlib import Path
from typing import NotRequired, TypedDict

from bench import plots, scaling
from bench.bars import BARS


class Figure(TypedDict):
    """A median of some runs with their spread; without them where it could not be measured."""

    value: float | None
    low: float | None
    high: float | None
    runs: int
    unit: str
    what: str
    failed: NotRequired[str]


Figures = Mapping[str, Figure]


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


def missing(unit: str, what: str, failed: str) -> Figure:
    """What could not be measured, and why."""
    nothing: Figure = {"value": None, "low": None, "high": None, "runs": 0, "unit": "", "what": ""}
    return {**nothing, "unit": unit, "what": what, "failed": failed}


def say(found: Figures) -> None:
    """Print a line for each figure."""
    for name, each in found.items():
        value, spread, verdict = said(name, each)
        print(f"{name:26} {value:>9} {each['unit']:7} {spread:22} {verdict}")


def said(name: str, each: Figure) -> tuple[str, str, str]:
    """A figure, its spread, and whether it is as good as it must be."""
    if each["value"] is None or each["low"] is None or each["high"] is None:
        return "failed", "", each.get("failed", "")[:200]
    value, spread = short(each["value"]), f"{short(each['low'])} to {short(each['high'])}"
    bar = BARS.get(name)
    verdict = f"{bar}: {'reached' if bar.reached(each['value']) else 'not reached'}" if bar else ""
    return value, spread, verdict


def short(value: float) -> str:
    """Three digits, and never an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write(root: Path, found: Figures) -> None:
    """Write the figures, and the page that shows them."""
    (root / "bench/results.json").write_text(json.dumps(found, indent=2) + "\n")
    (root / "docs/benchmarks.md").write_text(page(root / "bench", found))
    plots.write(root / "docs/benchmarks", found)
    scaling.write(root, found)


def page(folder: Path, found: Figures) -> str:
    """docs/benchmarks.md: the prose, and the figures of each subject with how it is measured."""
    parts = []
    for source in sorted(folder.glob("*.py")):
        module = ast.parse(source.read_text(encoding="utf-8"))
        mine = [name for name in told_by(module) if name in found]
        if mine:
            parts.append(subject(source.stem, ast.get_docstring(module) or "", mine, found))
    prose = (folder / "prose.md").read_text(encoding="utf-8")
    barred = [name for name in BARS if name in found]
    return prose.format(
        cores=os.cpu_count(),
        bars=table(barred, found),
        plots=plots.shown(found),
        subjects="\n".join(parts),
    )


def told_by(module: ast.Module) -> list[str]:
    """The names of a subject's figures, read without running it."""
    for line in module.body:
        if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(line.value, ast.Dict):
            (target,) = line.targets if isinstance(line, ast.Assign) else [line.target]
            if isinstance(target, ast.Name) and target.id == "FIGURES":
                return [str(key.value) for key in line.value.keys if isinstance(key, ast.Constant)]
    return []


def subject(name: str, how: str, mine: list[str], found: Figures) -> str:
    """A section of the page."""
    return f"### `bench/{name}.py`\n\n{how}\n\n{table(mine, found)}\n"


def table(names: list[str], found: Figures) -> str:
    """Figures, one a row."""
    rows = ["| figure | median | lowest to highest | runs | unit | bar | what |", f"|{'---|' * 7}"]
    for name in names:
        each = found[name]
        value, spread, verdict = said(name, each)
        cells = (f"`{name}`", value, spread, each["runs"], each["unit"], verdict, each["what"])
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)
