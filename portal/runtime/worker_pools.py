"""The workers beyond the minimum: as many as the scheduler asks for."""

import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property

from redis import Redis
from redis.exceptions import RedisError

from portal.core import redis_clients
from portal.operations import autoscaler, workers
from portal.runtime.child_process import Child, SupervisedChild, say

INTERVAL = 1.0  # seconds between two checks


class WorkerPools:
    """Adds workers to the `supervised` children; removes added ones after their current job."""

    def __init__(
        self,
        supervised: list[SupervisedChild],
        child: Callable[..., Child],
        redis_url: Callable[[], str],
    ) -> None:
        self.supervised = supervised
        self.leaving: list[Child] = []
        self._added: list[SupervisedChild] = []
        self._child = child
        self._redis_url = redis_url
        self._due = 0.0
        self._forgotten: set[int] = set()

    def check(self) -> None:
        """Remove exited workers from the list; start or stop as many as the scheduler wants."""
        if time.monotonic() < self._due:
            return
        with suppress(RedisError):  # try again in a second
            self._forget()
            for queue, target in autoscaler.targets(self._redis).items():
                self._fit(queue, target.workers)
        self._due = time.monotonic() + INTERVAL

    @cached_property
    def _redis(self) -> Redis:
        return redis_clients.commands(self._redis_url(), timeout=1.0, size=2)

    def _fit(self, queue: str, wanted: int) -> None:
        mine = [each for each in self.supervised if _queue(each.child) == queue]
        spare = [each for each in mine if each in self._added]
        for number in range(len(mine) + 1, wanted + 1):
            one = SupervisedChild(self._child(f"{queue}-{number}", "worker", queue))
            one.start()
            self.supervised.append(one)
            self._added.append(one)
            say(f"Workers of {queue}: {number}.")
        for one in spare[::-1][: max(0, len(mine) - wanted)]:
            one.child.ask_to_stop()  # it exits after its current job
            self.supervised.remove(one)
            self._added.remove(one)
            self.leaving.append(one.child)
            say(f"Workers of {queue}: one fewer.")

    def _forget(self) -> None:
        running = [each.child for each in self.supervised if _queue(each.child)]
        for child in (*running, *self.leaving):
            if child.process and not child.alive and child.process.pid not in self._forgotten:
                workers.forget(self._redis, child.process.pid)
                self._forgotten.add(child.process.pid)
        self.leaving = [child for child in self.leaving if child.alive]


def _queue(child: Child) -> str:
    """Return the queue of a worker; "" for other processes."""
    *_, what, which = child.command
    return which if what == "worker" else ""
