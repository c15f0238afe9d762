"""A small line of numbers over time: the geometry of a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

WIDTH, HEIGHT, MARGIN = 360, 56, 3
LEAST = 1.0  # the least peak, so that next to nothing does not look like a mountain


@dataclass(frozen=True)
class Spark:
    """The line's points as SVG wants them, and the area below it."""

    line: str
    area: str
    peak: float
    width: int = WIDTH
    height: int = HEIGHT


def spark(values: Sequence[float]) -> Spark:
    """The drawing of numbers, oldest first."""
    peak = max(values, default=0.0)
    scale = (HEIGHT - 2 * MARGIN) / max(peak, LEAST)
    step = WIDTH / max(1, len(values) - 1)
    points = [
        f"{round(place * step, 1)},{round(HEIGHT - MARGIN - value * scale, 1)}"
        for place, value in enumerate(values)
    ]
    line = " ".join(points)
    return Spark(line, f"0,{HEIGHT} {line} {WIDTH},{HEIGHT}", peak)
