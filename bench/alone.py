"""One subject of the measurements by itself: `python bench/record.py`, or `--quick`."""

import argparse
from collections.abc import Callable, Mapping

from bench.report import figure


def main(figures: Callable[..., dict[str, float]], told: Mapping[str, tuple[str, str]]) -> None:
    """Measure so many times, and print each figure with its spread."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=1)
    options.add_argument("--quick", action="store_true", help="little of everything, in seconds")
    asked = options.parse_args()
    runs = [figures(run, quick=asked.quick) for run in range(asked.runs)]
    for name, (unit, what) in told.items():
        found = figure([run[name] for run in runs], unit, what)
        spread = f"({found['low']:.4g} to {found['high']:.4g})"
        print(f"{name:24} {found['value']:8.4g} {unit:6} {spread:22} {what}")
