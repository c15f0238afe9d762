"""Connections to a Redis server: quick to get, and waited for as long as it answers others."""

from contextlib import suppress
from queue import Empty, Full
from select import POLLIN
from typing import Any

from gevent.monkey import get_original
from redis import BlockingConnectionPool
from redis.exceptions import ConnectionError as NoConnection

TURNS = 10

_poll = get_original("select", "poll")  # gevent's own would look what else there is to do


class Lines(BlockingConnectionPool):
    """Redis-py's pool without its statistics, which cost as much again as a short command.

    It waits until no connection came back in `timeout` seconds with its answer, or ten times as
    long in all: in a rush it is this process that has much else to do, and the server is not away.
    """

    answered = 0

    def get_connection(self, *_: Any, **__: Any) -> Any:
        """A connection that nobody else has, to a server that is there."""
        self._checkpid()
        line = self._free() or self.make_connection()  # type: ignore[no-untyped-call]
        try:
            line.connect()
            if heard(line._sock.fileno()):  # noqa: SLF001  redis-py has no door to it
                line.disconnect()
                line.connect()
        except BaseException:
            self.release(line)
            raise
        return line

    def release(self, connection: Any) -> None:
        """Take a connection back; one that waited in vain is not connected any more."""
        self._checkpid()
        mine = self.owns_connection(connection)  # not of the process that has forked this one
        if not mine or connection.should_reconnect():
            connection.disconnect()
        self.answered += connection.is_connected
        with suppress(Full):  # all were given up meanwhile
            self.pool.put_nowait(connection if mine else None)

    def _free(self) -> Any:
        for _ in range(TURNS):
            before = self.answered
            with suppress(Empty):
                return self.pool.get(timeout=self.timeout)
            if self.answered == before:
                break
        raise NoConnection("No connection available.")


def heard(file: int) -> bool:
    """Whether a server has hung up on a connection that rested, or said what nobody asked for."""
    look = _poll()
    look.register(file, POLLIN)
    return bool(look.poll(0))
