"""Report of the results: printed, and written to bench/results.json and docs/benchmarks.md."""

import ast
import json
import os
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from bench import plots, scaling
from bench.bars import BARS
from bench.figures import Figure, Figures, missing, short
from bench.peers import table as peers


def with_every_bar(found: Figures) -> Figures:
    """Return the figures, and a missing one for each bar that was not measured."""
    absent = {name: missing("", "", "no subject gave it") for name in BARS if name not in found}
    return {**found, **absent}


def circumstances(root: Path) -> str:
    """Return the commit, the time and the load average before the start."""
    commit, load = "unknown", os.getloadavg()[0]
    with suppress(OSError, subprocess.SubprocessError):  # not a git checkout
        command = ["git", "describe", "--always", "--dirty"]
        completed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
        commit = completed.stdout.strip()
    return f"commit {commit}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC, load average {load:.1f}"


def say(found: Figures) -> None:
    """Print a line for each figure."""
    for name, each in found.items():
        value, spread, verdict = bar_text(name, each)
        print(f"{name:26} {value:>9} {each['unit']:7} {spread:22} {verdict}")


def bar_text(name: str, each: Figure) -> tuple[str, str, str]:
    """Return a figure's value, its spread, and whether it reaches its bar, as text."""
    bar = ""
    if name in BARS:
        bar = f"{BARS[name]}: {'reached' if reached(name, each) else 'not reached'}"
    if each["value"] is None or each["low"] is None or each["high"] is None:
        return "not measured", "", f"{bar} ({each.get('failed', '')})".strip()
    return short(each["value"]), f"{short(each['low'])} to {short(each['high'])}", bar


def reached(name: str, each: Figure) -> bool:
    """Return whether a figure was measured and reaches its bar."""
    return each["value"] is not None and BARS[name].reached(each["value"])


def write(root: Path, found: Figures, began: str) -> None:
    """Write the figures and the pages that show them."""
    text = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (root / "bench/results.json").write_text(text, encoding="utf-8")
    (root / "docs/benchmarks.md").write_text(page(root / "bench", found, began), encoding="utf-8")
    plots.write(root / "docs/benchmarks", found)
    scaling.write(root, found)


def page(folder: Path, found: Figures, began: str) -> str:
    """Return docs/benchmarks.md: the prose, and each subject with its docstring and figures."""
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
        peers=peers.shown(folder),
    )


class _Numbers(dict[str, str]):
    def __missing__(self, name: str) -> str:
        return "(not measured)"


def filled(prose: str, found: Figures, **parts: str) -> str:
    """Return the prose with its placeholders filled.

    Paragraphs that explain only bars that are reached are left out.
    """
    numbers = _Numbers(parts)
    for name, each in found.items():
        if each["value"] is not None:
            numbers[name] = short(each["value"])
    paragraphs = [each for each in prose.split("\n\n") if not _settled(each, found)]
    return "\n\n".join(paragraphs).format_map(numbers)


def _settled(paragraph: str, found: Figures) -> bool:
    """Return whether the paragraph starts with names of bars, in bold, that are all reached."""
    if not paragraph.startswith("**`"):
        return False
    names = re.findall(r"`(\w+)`", paragraph.split(".**", maxsplit=1)[0])
    return all(reached(name, found[name]) for name in names)


def told_by(module: ast.Module) -> list[str]:
    """Return the names of a subject's figures, without running its module."""
    for line in module.body:
        if isinstance(line, ast.Assign | ast.AnnAssign) and isinstance(line.value, ast.Dict):
            (target,) = line.targets if isinstance(line, ast.Assign) else [line.target]
            if isinstance(target, ast.Name) and target.id == "FIGURES":
                return [str(key.value) for key in line.value.keys if isinstance(key, ast.Constant)]
    return []


def subject(name: str, how: str, mine: list[str], found: Figures) -> str:
    """Return the page's section on one subject."""
    return f"### `bench/{name}.py`\n\n{how}\n\n{table(mine, found)}\n"


def table(names: list[str], found: Figures) -> str:
    """Return a Markdown table of figures, one per row."""
    rows = [
        "| figure | median | lowest to highest | runs | unit | bar | description |",
        f"|{'---|' * 7}",
    ]
    for name in names:
        each = found[name]
        value, spread, verdict = bar_text(name, each)
        cells = (f"`{name}`", value, spread, each["runs"], each["unit"], verdict, each["what"])
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows)
