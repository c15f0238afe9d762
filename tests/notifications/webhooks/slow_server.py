"""A server that begins an answer, and then sends one byte at a time."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from socket import create_server, socket
from threading import Thread

PAUSE = 0.02  # seconds between two bytes


@dataclass
class Dripper:
    """How it begins, and how many bytes it got rid of after that."""

    server: socket
    first: bytes
    sent: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.getsockname()[1]}/"

    def drip(self) -> None:
        """Serve one connection, until it is cut off."""
        wire, _ = self.server.accept()
        with wire:
            wire.recv(1 << 16)
            wire.sendall(self.first)
            try:
                while True:
                    wire.sendall(b".")
                    self.sent += 1
                    time.sleep(PAUSE)
            except OSError:
                return


@contextmanager
def a_dripper(first: bytes) -> Iterator[Dripper]:
    """One whose only connection is over when the block ends."""
    with create_server(("127.0.0.1", 0)) as server:
        dripper = Dripper(server, first)
        thread = Thread(target=dripper.drip)
        thread.start()
        yield dripper
        thread.join()
