"""Backups made again and again below one folder: when the next is due, and which are let go."""

import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

from portal.ops.backup import TOLD

FORM = "%Y-%m-%dT%H%M%SZ"
NAME = re.compile(r"\d{4}-\d\d-\d\dT\d{6}Z")
HALF = ".part"


def due(folder: Path, every: timedelta) -> timedelta:
    """In how long the next is to be made."""
    made = _made(folder)
    if not made:
        return timedelta()
    last = datetime.strptime(made[-1].name, FORM).replace(tzinfo=UTC)
    # No later than that by whatever clock.
    return min(every, max(timedelta(), last + every - datetime.now(UTC)))


def place(folder: Path) -> Path:
    """Where one that is begun now belongs."""
    return folder / datetime.now(UTC).strftime(FORM)


def let_go(folder: Path, keep: int) -> None:
    """Remove all but the last so many, and what was left half made; other names are left alone."""
    halves = [each for each in folder.glob(f"*{HALF}") if NAME.fullmatch(each.stem)]
    for each in (*_made(folder)[:-keep], *halves):
        shutil.rmtree(each)


def _made(folder: Path) -> list[Path]:
    """Those that are there, the first one first."""
    found = folder.iterdir() if folder.exists() else ()
    return sorted(each for each in found if NAME.fullmatch(each.name) and (each / TOLD).exists())
