"""A figure: what some runs measured, with its unit and description."""

import statistics
from collections.abc import Mapping
from typing import NotRequired, TypedDict


class Figure(TypedDict):
    """Median, lowest and highest value of some runs; None where it could not be measured."""

    value: float | None
    low: float | None
    high: float | None
    runs: int
    unit: str
    what: str
    failed: NotRequired[str]


Figures = Mapping[str, Figure]


def figure(values: list[float], unit: str, what: str) -> Figure:
    """Return the median of some runs with the lowest and highest value."""
    return {
        "value": statistics.median(values),
        "low": min(values),
        "high": max(values),
        "runs": len(values),
        "unit": unit,
        "what": what,
    }


def missing(unit: str, what: str, failed: str) -> Figure:
    """Return a figure without a value, with the reason why it could not be measured."""
    return {
        "value": None,
        "low": None,
        "high": None,
        "runs": 0,
        "unit": unit,
        "what": what,
        "failed": " ".join(failed.split()).replace("|", "/")[:200],
    }


def short(value: float) -> str:
    """Return a number with about three digits, without an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
