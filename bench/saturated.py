"""Load on a ledger that is never idle: many connections with one claim each, like web nodes.

Other connections subscribe to the live updates, like web processes that have open pages.
"""

import selectors
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import hiredis

from portal.live.subscription import CHANNELS

CONNECTIONS = 256
READ = 65_536  # bytes
TIMEOUT = 30.0  # seconds


@dataclass
class Line:
    """A connection, and what it has read of the next reply."""

    sock: socket.socket
    asks: bool  # else it subscribes
    reader: hiredis.Reader = field(default_factory=hiredis.Reader)


def packed(*words: bytes) -> bytes:
    """Return a command in the Redis protocol."""
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(w), w) for w in words)


def replies(path: str, asks: Sequence[bytes], listeners: int) -> list[Any]:
    """Send all requests while `listeners` subscribe; return the replies."""
    todo, found = iter(asks), list[Any]()
    with ExitStack() as stack:
        ready = stack.enter_context(selectors.DefaultSelector())
        for number in range(listeners + CONNECTIONS):
            line = Line(_connected(stack, path), asks=number >= listeners)
            ready.register(line.sock, selectors.EVENT_READ, line)
            line.sock.sendall(next(todo, b"") if line.asks else _listening())
        while len(found) < len(asks):
            heard = ready.select(TIMEOUT)
            if not heard:
                raise SystemExit("The ledger has stopped answering.")
            for key, _ in heard:
                found += _heard(key.data, todo)
    return found


def _connected(stack: ExitStack, path: str) -> socket.socket:
    sock = stack.enter_context(socket.socket(socket.AF_UNIX))
    sock.connect(path)
    return sock


def _listening() -> bytes:
    return packed(b"PSUBSCRIBE", *(each.encode() for each in CHANNELS))


def _heard(line: Line, todo: Iterator[bytes]) -> list[Any]:
    """Read from a connection; once its reply is complete, send its next request.

    Return the reply if it is complete, else an empty list.
    """
    data = line.sock.recv(READ)
    if not data:
        raise SystemExit("The ledger closed a connection.")
    if not line.asks:
        return []
    line.reader.feed(data)
    reply = line.reader.gets()
    if reply is False:
        return []
    line.sock.sendall(next(todo, b""))
    return [reply]
