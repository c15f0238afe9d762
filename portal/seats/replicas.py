"""Acknowledged means replicated: an answer counts once enough replicas have what it rests on."""

import re
from collections.abc import Sequence
from typing import Any

from redis import Redis
from redis.client import Pipeline
from redis.exceptions import ConnectionError as LostConnection

PATIENCE = 1000  # ms for the replicas, less than a client gives the server
LAG = 5  # seconds since a replica was last heard of, for it to count

Command = tuple[str | int, ...]


class TooFewReplicas(LostConnection):
    """Not enough replicas have said in time that they have it: the answer is not to be believed."""


def behind(replicas: int) -> Sequence[Command]:
    """What is sent on the same connection behind questions, in one go.

    WAIT waits for what the connection itself has written. Who only reads, such as one who asks for
    a decision again, writes something first: replicas that have it have all that was read. A
    message to nobody is replicated, but not kept.
    """
    return (("PUBLISH", "replicated", ""), ("WAIT", replicas, PATIENCE)) if replicas else ()


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
            check(replies[-1], replicas)
        except TooFewReplicas:
            pool.disconnect(inuse_connections=False)  # another may be the primary by now
            raise
    return replies[:asked]


def check(reply: Any, replicas: int) -> None:
    """Raise TooFewReplicas unless WAIT counted enough; one that was demoted counts none."""
    found = reply if isinstance(reply, int) else 0
    if found < replicas:
        raise TooFewReplicas(f"{found} of {replicas} replicas have the decision")


def in_sync(redis: Redis) -> int:
    """How many replicas follow the primary closely enough for it to count them."""
    told: dict[str, Any] = redis.info("replication")
    # One that is just coming is counted there, but not told of yet.
    found = [each for name, each in told.items() if re.fullmatch(r"slave\d+", name)]
    return sum(each["state"] == "online" and each["lag"] <= LAG for each in found)
