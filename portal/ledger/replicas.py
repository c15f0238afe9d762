"""Acknowledged means replicated: an answer counts once enough replicas have what it rests on."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as LostConnection

PATIENCE = 1000  # ms for the replicas, less than a client gives the server
LAG = 5  # seconds since a replica was last heard of, for it to count
# Seconds in which one that has left may be the next primary, and the others follow the old one yet.
GRACE = 10.0
# As one word, so that redis-py hands the reply on as it comes.
TELL = "INFO replication"
REIGN = re.compile(rb"master_replid:(\w+)")

Command = tuple[str | int, ...]


class TooFewReplicas(LostConnection):
    """Not enough replicas have said in time that they have it: the answer is not to be believed."""


class ReplicaLeft(LostConnection):
    """One has left the primary, and may be promoted: what the others have is not to be believed."""


@dataclass
class Company:
    """The most replicas that a primary has had, and since when (monotonic) some have left it."""

    most: int = 0
    since: float | None = None
    looked: float = 0.0

    def settled(self, there: int) -> bool:
        """Whether none has left lately."""
        now = monotonic()
        if now - self.looked > GRACE:
            self.since = None  # they may have come back and left again
        self.looked = now
        if there < self.most:
            self.since = self.since or now
            if now - self.since < GRACE:
                return False
        self.most, self.since = there, None
        return True


_companies: dict[bytes, Company] = {}  # by reign: whoever is promoted begins another


def behind(replicas: int) -> Sequence[Command]:
    """What is sent on the same connection behind questions, in one go.

    WAIT waits for what the connection itself has written. Who only reads, such as one who asks for
    a decision again, writes something first: replicas that have it have all that was read. A
    message to nobody is replicated, but not kept.
    """
    if not replicas:
        return ()
    return ("PUBLISH", "replicated", ""), ("WAIT", replicas, PATIENCE), (TELL,)


def execute(pipe: Pipeline, replicas: int) -> list[Any]:
    """The replies to a pipeline that is no transaction; raises TooFewReplicas."""
    asked, pool = len(pipe), pipe.connection_pool
    for command in behind(replicas):
        pipe.execute_command(*command)  # type: ignore[no-untyped-call]
    replies = pipe.execute(raise_on_error=False)
    for reply in replies[:asked]:
        if isinstance(reply, Exception):
            raise reply
    if replicas:
        try:
            check(replies[-2], replies[-1], replicas)
        except TooFewReplicas:
            pool.disconnect(inuse_connections=False)  # another may be the primary by now
            raise
    return replies[:asked]


def check(waited: Any, told: Any, replicas: int) -> None:
    """Raise TooFewReplicas unless WAIT counted enough; one that was demoted counts none.

    Raises ReplicaLeft where one has left the primary lately: it may just be promoted, while the
    old primary, which was frozen, wakes and is still acknowledged by another.
    """
    found = waited if isinstance(waited, int) else 0
    if found < replicas:
        raise TooFewReplicas(f"{found} of {replicas} replicas have the decision")
    if not isinstance(told, bytes):
        raise TooFewReplicas(f"the primary does not tell who follows it: {told}")
    if not _settled(told):
        raise ReplicaLeft("a replica has just left: it may be the next primary")


def look(redis: Redis) -> None:
    """See who follows the primary, so that it is known when one leaves, not when it is missed."""
    told: Any = redis.execute_command(TELL)  # type: ignore[no-untyped-call]
    _settled(told)


def _settled(told: bytes) -> bool:
    reign = REIGN.search(told)
    company = _companies.setdefault(reign[1] if reign else b"", Company())
    return company.settled(told.count(b"state=online"))


def in_sync(redis: Redis) -> int:
    """How many replicas follow the primary closely enough for it to count them."""
    told: dict[str, Any] = redis.info("replication")
    # One that is just coming is counted there, but not told of yet.
    found = [each for name, each in told.items() if re.fullmatch(r"slave\d+", name)]
    return sum(each["state"] == "online" and each["lag"] <= LAG for each in found)
