"""Minimal flask-sock application that sends each message from Redis to all sockets in a loop."""

import os
from threading import Lock, Thread
from typing import Any

from flask import Flask
from flask_sock import Sock
from redis import Redis

CHANNEL = "bare"

app = Flask(__name__)
sock = Sock(app)
_open: set[Any] = set()
_listening = Lock()


@sock.route("/ws")
def page(connection: Any) -> None:
    _listen()
    _open.add(connection)
    try:
        while True:
            connection.receive()
    finally:
        _open.discard(connection)


def _listen() -> None:
    """Start one listener at the first page: after the server's fork, and only once."""
    if _listening.acquire(blocking=False):
        Thread(target=_tell, daemon=True).start()


def _tell() -> None:
    line = Redis.from_url(os.environ["REDIS_URL"]).pubsub(ignore_subscribe_messages=True)
    line.subscribe(CHANNEL)
    for message in line.listen():
        text = message["data"].decode()
        for each in tuple(_open):
            each.send(text)
