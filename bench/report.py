"""What was found: printed, and written to bench/results.json and docs/benchmarks.md."""

import ast
import json
import os
import re
import statistics
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
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
    return {
        "value": None,
        "low": None,
        "high": None,
        "runs": 0,
        "unit": unit,
        "what": what,
        "failed": " ".join(failed.split()).replace("|", "/")[:200],
    }


def with_every_bar(found: Figures) -> Figures:
    """Also those that have a bar and that nobody has measured."""
    absent = {name: missing("", "", "no subject gave it") for name in BARS if name not in found}
    return {**found, **absent}


def circumstances(root: Path) -> str:
    """What is measured, when, and what else the machine does as that begins."""
    commit, load = "unknown", os.getloadavg()[0]
    with suppress(OSError, subprocess.SubprocessError):  # it may be a copy without its history
        told = ["git", "describe", "--always", "--dirty"]
        asked = subprocess.run(told, cwd=root, capture_output=True, text=True, check=True)
        commit = asked.stdout.strip()
    return f"commit {commit}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, a load of {load:.1f} before"


def say(found: Figures) -> None:
    """Print a line for each figure."""
    for name, each in found.items():
        value, spread, verdict = said(name, each)
        print(f"{name:26} {value:>9} {each['unit']:7} {spread:22} {verdict}")


def said(name: str, each: Figure) -> tuple[str, str, str]:
    """A figure, its spread, and whether it is as good as it must be."""
    bar = ""
    if name in BARS:
        bar = f"{BARS[name]}: {'reached' if reached(name, each) else 'not reached'}"
    if each["value"] is None or each["low"] is None or each["high"] is None:
        return "not measured", "", f"{bar} ({each.get('failed', '')})".strip()
    return short(each["value"]), f"{short(each['low'])} to {short(each['high'])}", bar


def reached(name: str, each: Figure) -> bool:
    """Whether a figure has been measured and is as good as its bar."""
    return each["value"] is not None and BARS[name].reached(each["value"])


def short(value: float) -> str:
    """Three digits, and never an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def write(root: Path, found: Figures, began: str) -> None:
    """Write the figures, and the page that shows them."""
    told = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (root / "bench/results.json").write_text(told, encoding="utf-8")
    (root / "docs/benchmarks.md").write_text(page(root / "bench", found, began), encoding="utf-8")
    plots.write(root / "docs/benchmarks", found)
    scaling.write(root, found)


def page(folder: Path, found: Figures, began: str) -> str:
    """docs/benchmarks.md: the prose, and the figures of each subject with how it is measured."""
    found, parts = with_every_bar(found), []
    for source in sorted(folder.glob("*.py")):
        module = ast.parse(source.read_text(encoding="utf-8"))
        mine = [name for name in told_by(module) if name in found]
        if mine:
            parts.append(subject(source.stem, ast.get_docstring(module) or "", mine, found))
    prose = (folder / "prose.md").read_text(encoding="utf-8")
    return filled(
        prose,
        found,
        began=began,
        cores=str(os.cpu_count()),
        bars=table(list(BARS), found),
        plots=plots.shown(found),
        subjects="\n".join(parts),
    )


class _Numbers(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "(not measured)"


def filled(prose: str, found: Figures, **parts: str) -> str:
    """The prose with figures and parts by name, without what explains bars that are reached."""
    numbers = _Numbers(parts)
    for name, each in found.items():
        if each["value"] is not None:
            numbers[name] = short(each["value"])
    kept = [each for each in prose.split("\n\n") if not _settled(each, found)]
    return "\n\n".join(kept).format_map(numbers)


def _settled(paragraph: str, found: Figures) -> bool:
    """Whether it begins with the names of bars, in bold, that are all reached."""
    if not paragraph.startswith("**`"):
        return False
    names = re.findall(r"`(\w+)`", paragraph.split(".**", maxsplit=1)[0])
    return all(reached(name, found[name]) for name in names)


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
