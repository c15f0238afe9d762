"""A ledger with replicas and sentinels whose servers a test kills, freezes and brings back."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

from redis import RedisError

from portal.core import redis_clients
from portal.core.redis_clients import parsed, pool
from portal.runtime.child_process import Child
from tests import demo_cluster

TIMEOUT = 90.0  # seconds, for machines that are busy with other things


def until(holds: Callable[[], bool], why: str = "it does not come true") -> None:
    """Wait for something to hold."""
    deadline = time.monotonic() + TIMEOUT
    while not holds():
        assert time.monotonic() < deadline, why
        time.sleep(0.05)


class Stage:
    """Six processes, numbered from 1."""

    def __init__(self, folder: Path) -> None:
        lock = (folder / "lock").open("w")
        self.lock = lock
        self.at = demo_cluster.topology(folder / "ledger", "secret")
        self.url = self.at.url
        self.servers = [self._server(number) for number in (1, 2, 3)]
        self.sentinels = [
            demo_cluster.sentinel(self.at, n, folder / f"sentinel-{n}.log", lock=lock.fileno())
            for n in (1, 2, 3)
        ]
        for child in (*self.servers, *self.sentinels):
            child.start()
        until(lambda: demo_cluster.in_sync(self.url, 2), "the replicas don't follow")

    def _server(self, number: int) -> Child:
        log = self.lock.name.replace("lock", f"valkey-{number}.log")
        return demo_cluster.server(
            self.at, number, Path(log), durable=False, lock=self.lock.fileno()
        )

    def primary(self) -> int:
        """The number of the server that the sentinels say is the primary, once they name one."""
        until(lambda: self._named() is not None, "there is no primary")
        return self._named() or self.primary()

    def _named(self) -> int | None:
        try:
            _, port = pool(parsed(self.url)).get_master_address()
        except RedisError:
            return None
        return self.at.servers.index(port) + 1

    def promoted(self, instead_of: int) -> bool:
        """Return whether the sentinels name another primary by now."""
        return self._named() not in {instead_of, None}

    def replicas(self) -> list[int]:
        """The numbers of the others."""
        return sorted({1, 2, 3} - {self.primary()})

    def send(self, how: signal.Signals, *numbers: int) -> None:
        """A signal for servers, which they have taken once it is done."""
        for number in numbers:
            process = self.servers[number - 1].process
            assert process
            process.send_signal(how)
            if how == signal.SIGKILL:
                process.wait()
        if how == signal.SIGSTOP:
            until(lambda: not any(self.answers(number) for number in numbers))

    def answers(self, number: int) -> bool:
        """Return whether a server does."""
        with redis_clients.commands(self.at.server_url(number), timeout=0.2, size=1) as redis:
            try:
                return bool(redis.ping())
            except RedisError:
                return False

    def role(self, number: int) -> str:
        """What a server takes itself for: `master` or `slave`, or nothing where it is silent."""
        with redis_clients.commands(self.at.server_url(number), size=1) as redis:
            try:
                return str(redis.info("replication")["role"])
            except RedisError:
                return ""

    def name(self, number: int) -> None:
        """Let all sentinels name another primary, and that server leave the former one.

        The others are not told, as if the network kept the sentinels away from them.
        """
        with redis_clients.commands(self.at.server_url(number), size=1) as redis:
            redis.execute_command("REPLICAOF", "NO", "ONE")
        # A sentinel may still hear of the former primary from one that names it.
        until(lambda: {self._names(each, number) for each in (1, 2, 3)} == {True})

    def _names(self, sentinel: int, number: int) -> bool:
        """Return whether a sentinel names the server as the primary; else tell it to."""
        named, port = demo_cluster.NAME, self.at.servers[number - 1]
        with redis_clients.commands(self.at.sentinel_url(sentinel), size=1) as redis:
            if redis.sentinel_masters()[named]["port"] == port:
                return True
            for act in (
                ("REMOVE", named),
                ("MONITOR", named, demo_cluster.HOST, port, 2),
                ("SET", named, "auth-pass", self.at.password),
                ("SET", named, "down-after-milliseconds", demo_cluster.DOWN_AFTER),
                ("SET", named, "failover-timeout", demo_cluster.FAILOVER),
            ):
                redis.execute_command("SENTINEL", *act)
        return False

    def heal(self) -> None:
        """Have all servers back, each in its part; sooner than the sentinels would see to it."""
        for number, child in enumerate(self.servers, 1):
            if child.alive:
                self.send(signal.SIGCONT, number)
            else:
                child.start()
        until(self._whole, "the servers don't come back")

    def _whole(self) -> bool:
        try:
            primary = self.primary()
            for number in {1, 2, 3} - {primary}:
                if self.role(number) == "master":
                    with redis_clients.commands(self.at.server_url(number), size=1) as redis:
                        redis.replicaof(demo_cluster.HOST, self.at.servers[primary - 1])
        except RedisError:
            return False
        return demo_cluster.in_sync(self.url, 2)

    def end(self) -> None:
        """Kill them all."""
        for child in (*self.sentinels, *self.servers):
            child.kill()
        self.lock.close()
