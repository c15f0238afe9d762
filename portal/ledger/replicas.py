"""Replication: an answer counts once enough replicas have the data behind it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any, cast

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as LostConnection

from portal.core.redis_clients import Address, PatientConnectionPool

TIMEOUT = 1000  # ms to wait for replicas, less than a client waits for the server
LAG = 5  # seconds since a replica's last sign of life until it no longer counts
# Seconds in which a replica that left may become primary, while others still follow the old one.
GRACE = 10.0
# As one word, so that redis-py passes the reply on unparsed.
INFO = "INFO replication"
REPLICATION_ID = re.compile(rb"master_replid:(\w+)")

Command = tuple[str | int, ...]


class TooFewReplicas(LostConnection):
    """Too few replicas confirmed in time: the answer must not be trusted."""


class ReplicaLeft(LostConnection):
    """A replica left the primary and may be promoted: confirmations must not be trusted."""


@dataclass
class ReplicaHistory:
    """The most replicas that a primary has had, and since when (monotonic) some have left."""

    ever: int = 0
    most: int = 0  # without those that left long ago
    since: float | None = None
    checked: float = 0.0

    def settled(self, there: int) -> bool:
        """Return whether no replica has left lately."""
        now = monotonic()
        if now - self.checked > GRACE:
            self.since = None  # they may have come back and left again
        self.checked = now
        self.ever = max(self.ever, there)
        if there < self.most:
            self.since = self.since or now
            if now - self.since < GRACE:
                return False
        self.most, self.since = there, None
        return True


_histories: dict[bytes, ReplicaHistory] = {}  # by replication id: a promoted server starts another
_making = Lock()


def behind(pool: PatientConnectionPool, replicas: int) -> Sequence[Command]:
    """Return the commands to send on the same connection after the requests.

    WAIT waits for what the connection itself has written. A connection that only reads, for example
    to repeat a request, must write something first, the pool's marker: replicas that have it have
    everything that was read.
    """
    if not replicas:
        return ()
    return pool.marker, ("WAIT", replicas, TIMEOUT), (INFO,)


def execute(pipe: Pipeline, replicas: int) -> list[Any]:
    """Return the replies to a pipeline that is no transaction; raise TooFewReplicas."""
    count, pool = len(pipe), cast("PatientConnectionPool", pipe.connection_pool)
    server = pool.server
    for command in behind(pool, replicas):
        pipe.execute_command(*command)  # type: ignore[no-untyped-call]
    replies = pipe.execute(raise_on_error=False)
    for reply in replies[:count]:
        if isinstance(reply, Exception):
            raise reply
    if replicas:
        try:
            check(replies[count:], replicas, pool, server)
        except TooFewReplicas:
            pool.disconnect(inuse_connections=False)  # another server may be the primary now
            raise
    return replies[:count]


def check(
    replies: Sequence[Any], replicas: int, pool: PatientConnectionPool, server: Address | None
) -> None:
    """Raise TooFewReplicas unless WAIT counted enough; a demoted server counts none.

    `replies` are those of `server` to the commands of `behind`.

    Raises ReplicaLeft if one left the primary lately. It may be about to be promoted, while the old
    primary was frozen, wakes, and still gets confirmations from another replica. As long as it is
    away, most sentinels must still name the primary. In a partly split network, they may have
    promoted the replica without being able to tell the primary.
    """
    marked, replicated, reply = replies
    found = replicated if isinstance(replicated, int) and not isinstance(marked, Exception) else 0
    if found < replicas:
        raise TooFewReplicas(f"{found} of {replicas} replicas have the decision")
    if not isinstance(reply, bytes):
        raise TooFewReplicas(f"the primary does not tell who follows it: {reply}")
    history, there = _history(reply, pool), _online(reply)
    if not history.settled(there):
        raise ReplicaLeft("a replica has just left: it may be the next primary")
    if there < history.ever and not pool.is_primary(server):
        raise TooFewReplicas("most sentinels do not name this server as the primary")


def notice_changes(redis: Redis) -> None:
    """Read which replicas follow the primary, to notice at once when one leaves."""
    reply: Any = redis.execute_command(INFO)  # type: ignore[no-untyped-call]
    pool = cast("PatientConnectionPool", redis.connection_pool)
    _history(reply, pool).settled(_online(reply))


def _history(reply: bytes, pool: PatientConnectionPool) -> ReplicaHistory:
    """Return the history of the primary that sent the reply.

    A new history starts with the number of replicas that the sentinels know.
    """
    found = REPLICATION_ID.search(reply)
    key = found[1] if found else b""
    if key not in _histories:
        with _making:  # many calls may be the first of a new primary
            if key not in _histories:
                _histories[key] = ReplicaHistory(ever=pool.replicas())
    return _histories[key]


def _online(reply: bytes) -> int:
    """Return how many replicas follow the primary that sent the reply."""
    return reply.count(b"state=online")


def in_sync(redis: Redis) -> int:
    """Return how many replicas follow the primary closely enough to count."""
    info: dict[str, Any] = redis.info("replication")
    # A replica that is just joining is in the count, but not in the list.
    found = [each for name, each in info.items() if re.fullmatch(r"slave\d+", name)]
    return sum(each["state"] == "online" and each["lag"] <= LAG for each in found)
