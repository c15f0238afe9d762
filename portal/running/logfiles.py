"""Logs of processes, which don't grow for ever."""

import os
import shutil
from contextlib import suppress
from pathlib import Path

from portal.core.private_files import owner_only

LIMIT = 10_000_000  # bytes of a log, until it is put aside
KEPT = 5  # old ones of each, .1 the newest


def put_aside(log: Path) -> None:
    """Put what a log holds aside where it has grown long, while its process goes on writing to it.

    As a copy, since the process has the file open. On a full disk nothing is changed.
    """
    with suppress(OSError):
        if log.stat().st_size <= LIMIT:
            return
        newest = _old(log, 1)
        draft = newest.with_suffix(".new")
        try:
            with log.open("rb") as now, open(draft, "wb", opener=owner_only) as copy:
                shutil.copyfileobj(now, copy)
        except OSError:
            draft.unlink()
            raise
        for number in range(KEPT - 1, 0, -1):
            if _old(log, number).exists():
                _old(log, number).replace(_old(log, number + 1))
        draft.replace(newest)
        os.truncate(log, 0)


def _old(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")
