"""Small groups are not told apart: what became of fewer than five is somebody's own business."""

from typing import Any

FEWEST = 5  # who asked, in a group whose outcome is shown


def veiled(rows: list[dict[str, Any]]) -> set[str]:
    """The names of the rows whose outcomes are not shown.

    Never one alone: what it hides would follow from the others and their sum.
    """
    small = {row["name"] for row in rows if row["asked"] < FEWEST}
    hidden = [row for row in rows if row["name"] in small and row["asked"]]
    others = sorted((row for row in rows if row["name"] not in small), key=lambda row: row["asked"])
    if len(hidden) == 1 and others:
        small.add(others[0]["name"])
    return small
