"""Ports for servers that tests start."""

import socket
from contextlib import suppress
from random import SystemRandom

# Below those that the system gives to outgoing connections: one of those, of any process, may take
# a port between its choice and the start of its server.
PORTS = range(11_000, 32_000)
CHANCE = SystemRandom()  # other processes choose too, so no seed may make them choose the same


def free_port() -> int:
    """Return a port without a listener."""
    while True:
        port = CHANCE.choice(PORTS)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
