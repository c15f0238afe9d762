"""A network in two halves: most hosts of the ledger in one, most of the portal in the other.

A host has a server of the ledger and the sentinel of its number; web-1 is beside the primary.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack

import psutil

from portal.core import redis_clients
from tests.demo_cluster import Topology
from tests.faults.client import Rush
from tests.faults.partitions import reopen
from tests.faults.processes import primary, topology
from tests.faults.trial import Trial, until

SETTLED = 8.0  # seconds after which the sentinels would have promoted another


def cut(trial: Trial) -> Callable[[], None]:
    """Cut the primary's host, a replica's and web-1 off from all others; gives how it is undone."""
    at, first = topology(trial), primary(trial)
    hosts = (first, first % len(at.servers) + 1)
    names = ["web-1", *(f"{kind}-{host}" for kind in ("valkey", "sentinel") for host in hosts)]
    held = ExitStack()
    for host in hosts:
        held.callback(
            _shut(trial, at, host, {port for name in names for port in _ports(trial, name)})
        )
    return held.close


def _shut(trial: Trial, at: Topology, host: int, kept: set[int]) -> Callable[[], None]:
    """Let a server talk only to those who talk to it from these ports."""
    held = ExitStack()
    redis = held.enter_context(redis_clients.commands(at.server_url(host), size=1))
    own = redis.client_id()
    redis.config_set("port", 0)
    for client in redis.client_list():
        if int(client["id"]) != own and int(client["addr"].rpartition(":")[2]) not in kept:
            redis.client_kill_filter(_id=client["id"])

    def undo() -> None:
        reopen(trial, at, host, redis)
        held.close()

    return undo


def _ports(trial: Trial, name: str) -> Iterator[int]:
    """Where the connections of a process, and of those that it has started, begin."""
    for process in trial.family(name):
        for each in process.net_connections("tcp"):
            if each.status == psutil.CONN_ESTABLISHED:
                yield each.laddr.port


def goes_on(_trial: Trial, rush: Rush) -> Iterable[str]:
    """The half that has most of the hosts decides all the while."""
    time.sleep(SETTLED)
    began = time.time()
    until(lambda: bool(rush.decided(began)), "nobody decides in the half that could")
    return ()
