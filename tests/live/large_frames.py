"""An app that sends one large frame over a prepared socket, for test_wire."""

from typing import Any

from flask import Flask, request
from flask_sock import Sock

from portal.live import frames

SIZE = 8_000_000  # more than the buffers of both ends

app = Flask(__name__)
sock = Sock(app)


@app.before_request
def _prepare() -> None:
    if request.path == "/ws":
        frames.prepare(request.environ)


@app.get("/clock")
def ready() -> str:
    """Say that the server answers."""
    return ""


@sock.route("/ws")  # type: ignore[untyped-decorator]
def big(connection: Any) -> None:
    """Send the frame, then another that must not be mixed with it."""
    connection.send("x" * SIZE)
    connection.send("end")
    connection.receive()
