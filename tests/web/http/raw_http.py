"""Requests as bytes, for what no client would send."""

import socket
from dataclasses import dataclass

from tests.live.nodes import Node

FOREVER = 60.0  # seconds after which a test has failed


@dataclass
class Heard:
    """All that the server said until it hung up, or for as long as it was listened to."""

    text: str
    hung_up: bool

    @property
    def status(self) -> int:
        """That of the first answer, 0 where there was none."""
        return int(self.text.split(" ", 2)[1]) if self.text.startswith("HTTP/") else 0

    @property
    def answers(self) -> int:
        """How many requests the server has seen in what it was sent."""
        return self.text.count("HTTP/1.1 ")


def line(node: Node) -> socket.socket:
    """A connection to the server."""
    return socket.create_connection(("127.0.0.1", node.port), timeout=FOREVER)


def say(node: Node, *lines: str, body: str = "", host: bool = True) -> Heard:
    """Send a head of these lines and a body, and hear the server out."""
    head = [lines[0], *([f"Host: {node.host}"] if host else []), *lines[1:], "Connection: close"]
    return send(node, "\r\n".join([*head, "", body]).encode("latin-1"))


def send(node: Node, data: bytes) -> Heard:
    """Send these bytes, and hear the server out."""
    with line(node) as open_line:
        open_line.sendall(data)
        return hear(open_line)


def hear(open_line: socket.socket) -> Heard:
    """Listen until the server hangs up."""
    heard = b""
    try:
        while data := open_line.recv(65536):
            heard += data
    except TimeoutError:
        return Heard(heard.decode("latin-1"), hung_up=False)
    except ConnectionResetError:
        pass  # it hung up on what it had not read
    return Heard(heard.decode("latin-1"), hung_up=True)
