"""Caches of accounts and students: kept until triggers in PostgreSQL report a change."""

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

FRESH_SECONDS = 2.0  # between two checks for changes
RETENTION = timedelta(days=1)  # how long PostgreSQL keeps a change
BATCH = 500  # rows a statement in a bulk read
PRELOAD_SECONDS = 5.0

# One statement, so that the changes and the snapshot to continue from are of the same moment. It
# compares snapshots, not numbers: a transaction may commit long after it got its number.
CHANGES = text("""
    WITH pruned AS (DELETE FROM people_changes WHERE at < now() - :kept)
    SELECT pg_current_snapshot()::text AS snapshot, now() AS at, (
        SELECT jsonb_agg(DISTINCT jsonb_build_array(kind, id)) FROM people_changes
        WHERE xid >= (pg_snapshot_xmin(CAST(:seen AS pg_snapshot))::text)::bigint
        AND NOT pg_visible_in_snapshot((xid::text)::xid8, CAST(:seen AS pg_snapshot))
    ) AS changed
""")


@dataclass(frozen=True)
class ChangePosition:
    """How far this process has seen the changes."""

    snapshot: str
    at: datetime

    @property
    def newest(self) -> int:
        """Return the first transaction that had not begun."""
        return int(self.snapshot.split(":")[1])


_caches: dict[str, Cache[int, Any]] = {}


def register(
    kind: str,
    read: Callable[[int], Value],
    read_many: Callable[[Collection[int]], Mapping[int, Value]],
) -> Cache[int, Value]:
    """Return a new cache by id of one `kind` of change: "account", "student" or "inbox"."""
    cache = _caches[kind] = Cache(read, inf, read_many=read_many)
    return cache


def refresh() -> None:
    """Forget what has changed; asks PostgreSQL at most every 2 s, and not while it is away."""
    _seen.get("people")


def preload(cache: Cache[int, Value], batch: Callable[[int], dict[int, Value]]) -> None:
    """Fill the cache for a few seconds at most; `batch` returns the rows after an id."""
    ends, last = monotonic() + PRELOAD_SECONDS, 0
    with suppress(SQLAlchemyError):
        refresh()
        for _ in range(cache.size // BATCH):
            found = cache.fill(partial(batch, last))
            if len(found) < BATCH or monotonic() > ends:
                return
            last = max(found)


def apply_changes(seen: ChangePosition | None) -> ChangePosition:
    """Forget what has changed since; forget everything if the changes are no longer known."""
    with transaction() as session:
        parameters = {"kept": RETENTION, "seen": seen and seen.snapshot}
        found = session.execute(CHANGES, parameters).one()
    now = ChangePosition(found.snapshot, found.at)
    # A lower number than before means another database, such as a restored backup.
    if seen is None or now.at - seen.at > RETENTION / 2 or now.newest < seen.newest:
        for cache in _caches.values():
            cache.clear()
    else:
        for kind, changed in found.changed or ():
            if kind in _caches:
                _caches[kind].forget(changed)
    return now


def _read_changes(people: str) -> ChangePosition:
    return apply_changes(_seen.peek(people))


_seen: Cache[str, ChangePosition] = Cache(_read_changes, FRESH_SECONDS)
