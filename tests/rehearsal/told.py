"""A rehearsal as its pages tell of it, without one that is played."""

from typing import Any

from portal.core.db import transaction
from portal.rehearsal import book

STANDING = {
    "phase": "rush",
    "done": 0.3,
    **dict.fromkeys(("come", "inside", "seats", "places", "gone"), 4),
    "per_second": 9.5,
}
REPORT: dict[str, Any] = {
    "stopped": False,
    "phases": [
        {
            "name": "rush",
            **dict.fromkeys(("answers", "refused", "turned_away", "failed"), 12),
            **dict.fromkeys(("per_second", "p50", "p99"), 40),
        }
    ],
    "waits": {"in": 5, "out": 0, "p50": 1.5, "p99": 2.5},
    "seats": {"taken": 18, "of": 20, "waiting": 3, "oversold": 0},
    "audit": {"clean": True, "events": 44, "differences": 0},
    "advice": {
        "students": 2000,
        "per_minute": 640,
        "at_once": 3200,
        "processes": 3,
        "had": 2,
        "bears": 120.5,
        "each": 8.0,
        "reached": True,
        "crowded": False,
    },
}


def a_rehearsal() -> int:
    """One that has been played; gives its id."""
    with transaction() as session:
        made = book.begin(session, 5, 60, None, anyway=True)
    assert made
    book.note(made, now=STANDING)
    book.end(made, step="done", report=REPORT)
    return made
