"""Requests as bytes, for requests that no client would send."""

import socket
from dataclasses import dataclass

from tests.live.nodes import Node

FOREVER = 60.0  # seconds after which a test has failed


@dataclass
class Heard:
    """Everything that the server sent until it hung up or the time was over."""

    text: str
    hung_up: bool

    @property
    def status(self) -> int:
        """Return the status of the first response, 0 without one."""
        return int(self.text.split(" ", 2)[1]) if self.text.startswith("HTTP/") else 0

    @property
    def answers(self) -> int:
        """Return how many requests the server answered."""
        return self.text.count("HTTP/1.1 ")


def line(node: Node) -> socket.socket:
    """Open a connection to the server."""
    return socket.create_connection(("127.0.0.1", node.port), timeout=FOREVER)


def say(node: Node, *lines: str, body: str = "", host: bool = True) -> Heard:
    """Send a head of these lines and a body; return everything that the server sends."""
    head = [lines[0], *([f"Host: {node.host}"] if host else []), *lines[1:], "Connection: close"]
    return send(node, "\r\n".join([*head, "", body]).encode("latin-1"))


def send(node: Node, data: bytes) -> Heard:
    """Send these bytes; return everything that the server sends."""
    with line(node) as open_line:
        open_line.sendall(data)
        return hear(open_line)


def hear(open_line: socket.socket) -> Heard:
    """Receive until the server hangs up."""
    heard = b""
    try:
        while data := open_line.recv(65536):
            heard += data
    except TimeoutError:
        return Heard(heard.decode("latin-1"), hung_up=False)
    except ConnectionResetError:
        pass  # it hung up on what it had not read
    return Heard(heard.decode("latin-1"), hung_up=True)
