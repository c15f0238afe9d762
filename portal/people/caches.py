"""Keeps what a process knows of people until it changes, as told by triggers in PostgreSQL."""

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import inf
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from portal.core.cache import Cache
from portal.core.db import transaction

Value = TypeVar("Value")

FRESH = 2.0  # seconds between two looks at what has changed
KEPT = timedelta(days=1)  # how long a change is kept for those who have not looked
BATCH = 500  # people a statement, when many are read
WARM_SECONDS = 5.0

# One statement, so that what is seen and the snapshot to go on from are of the same moment. By the
# snapshot, not by a number: a transaction may commit long after it took one.
NEWS = text("""
    WITH pruned AS (DELETE FROM people_changes WHERE at < now() - :kept)
    SELECT pg_current_snapshot()::text AS snapshot, now() AS at, (
        SELECT jsonb_agg(DISTINCT jsonb_build_array(kind, id)) FROM people_changes
        WHERE xid >= (pg_snapshot_xmin(CAST(:seen AS pg_snapshot))::text)::bigint
        AND NOT pg_visible_in_snapshot((xid::text)::xid8, CAST(:seen AS pg_snapshot))
    ) AS changed
""")


@dataclass(frozen=True)
class ChangePosition:
    """Up to where the changes have been seen."""

    snapshot: str
    at: datetime

    @property
    def newest(self) -> int:
        """The first transaction that had not begun."""
        return int(self.snapshot.split(":")[1])


_kept: dict[str, Cache[int, Any]] = {}


def register(
    kind: str,
    read: Callable[[int], Value],
    read_many: Callable[[Collection[int]], Mapping[int, Value]],
) -> Cache[int, Value]:
    """Values of "account" or "student" by id, for as long as `look` finds no change of them."""
    cache = _kept[kind] = Cache(read, inf, read_many=read_many)
    return cache


def refresh() -> None:
    """Forget what has changed; asks every 2 s at most, and not while PostgreSQL is away."""
    _seen.get("people")


def preload(cache: Cache[int, Value], batch: Callable[[int], dict[int, Value]]) -> None:
    """Read as many as fit and can be in a few seconds; `batch` gives those next after an id."""
    ends, last = monotonic() + WARM_SECONDS, 0
    with suppress(SQLAlchemyError):
        refresh()
        for _ in range(cache.size // BATCH):
            found = cache.fill(partial(batch, last))
            if len(found) < BATCH or monotonic() > ends:
                return
            last = max(found)


def apply_changes(seen: ChangePosition | None) -> ChangePosition:
    """Forget what has changed since; everything where that can't be told any more."""
    with transaction() as session:
        asked = {"kept": KEPT, "seen": seen and seen.snapshot}
        found = session.execute(NEWS, asked).one()
    now = ChangePosition(found.snapshot, found.at)
    # An older number than before: the database is another one, such as a restored backup.
    if seen is None or now.at - seen.at > KEPT / 2 or now.newest < seen.newest:
        for cache in _kept.values():
            cache.clear()
    else:
        for kind, each in found.changed or ():
            if kind in _kept:
                _kept[kind].forget(each)
    return now


def _look(people: str) -> ChangePosition:
    return apply_changes(_seen.peek(people))


_seen: Cache[str, ChangePosition] = Cache(_look, FRESH)
