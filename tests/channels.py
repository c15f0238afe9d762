"""The messages that the ledger publishes to its subscribers."""

from typing import Any

from redis.client import PubSub


def told(channel: PubSub) -> list[dict[str, Any]]:
    """Return the messages since the last call: those before the answer to a ping."""
    channel.ping()
    found: list[dict[str, Any]] = []
    while True:
        message = channel.get_message(timeout=60)
        assert message
        if message["type"] == "pong":
            return found
        if message["type"] == "message":
            found.append(message)
