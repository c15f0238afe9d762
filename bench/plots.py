"""Chart of the figures that have a bar: the distance of each from its bar, on a log scale."""

import math
from pathlib import Path
from typing import TYPE_CHECKING

from bench.bars import BARS, Bar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from bench.figures import Figure

WIDE, ROW, LEFT, RIGHT = 720, 26, 210, 110
FOLDS = 2  # powers of ten to each side of the bar
GOOD, BAD, INK = "#1a7f37", "#b35900", "#57606a"


def shown(found: "Mapping[str, Figure]") -> str:
    """Return the Markdown of the chart, with its alternative text."""
    values = {name: found[name]["value"] for name in BARS if name in found}
    known = {name: value for name, value in values.items() if value is not None}
    reached = [name for name, value in known.items() if BARS[name].reached(value)]
    alt = f"{len(reached)} of {len(BARS)} bars reached: {', '.join(reached) or 'none'}"
    if absent := [name for name in BARS if name not in known]:
        alt += f"; not measured: {', '.join(absent)}"
    return f"![{alt}](benchmarks/bars.svg)"


def write(folder: Path, found: "Mapping[str, Figure]") -> None:
    """Write the chart: a row per figure, a dot for its median and a line for its spread."""
    folder.mkdir(parents=True, exist_ok=True)
    high = ROW * (len(BARS) + 2)
    drawn = [_row(name, found.get(name), at) for at, name in enumerate(BARS, start=1)]
    middle = _across(0)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {high}" role="img">'
    style = f'<g font-family="sans-serif" font-size="12" fill="{INK}">'
    line = f'<path d="M{middle} {ROW}V{high - ROW}" stroke="{INK}" stroke-dasharray="3"/>'
    says = f'<text x="{middle}" y="16" text-anchor="middle">the bar</text>'
    sides = "".join(
        f'<text x="{_across(fold)}" y="{high - 6}" text-anchor="middle">{words}</text>'
        for fold, words in ((-FOLDS, "100 times short"), (FOLDS, "100 times better"))
    )
    parts = [head, style, line, says, sides, *drawn, "</g></svg>\n"]
    (folder / "bars.svg").write_text("\n".join(parts))


def _row(name: str, each: "Figure | None", at: int) -> str:
    bar, y = BARS[name], ROW * at + 10
    named = f'<text x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{name}</text>'
    if each is None or each["value"] is None:
        return f'{named}<text x="{WIDE - RIGHT + 20}" y="{y + 4}" fill="{BAD}">not measured</text>'
    value, low, high = (_better(bar, float(each[key] or 0)) for key in ("value", "low", "high"))
    colour = GOOD if bar.reached(each["value"]) else BAD
    return (
        f"{named}"
        f'<path d="M{_across(low)} {y}H{_across(high)}" stroke="{colour}" stroke-width="3"/>'
        f'<circle cx="{_across(value)}" cy="{y}" r="5" fill="{colour}"/>'
        f'<text x="{WIDE - RIGHT + 20}" y="{y + 4}">{each["value"]:.3g} ({bar})</text>'
    )


def _better(bar: Bar, value: float) -> float:
    """Return by how many powers of ten a value is better than its bar; negative if worse.

    A bar of zero has no scale: 0 if it is reached, else the worst end.
    """
    if not bar.value or not value:
        return 0.0 if bar.reached(value) else -FOLDS
    found = math.log10(value / bar.value)
    return -found if bar.most else found


def _across(folds: float) -> float:
    inside = max(-FOLDS, min(FOLDS, folds))
    return round(LEFT + (WIDE - LEFT - RIGHT) * (inside + FOLDS) / (2 * FOLDS), 1)
