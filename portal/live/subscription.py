"""The subscription of this process to what the ledger and the recorder publish.

In a cluster, messages of functions about a term come by a subscription of their own, from the
term's primary. If that server is lost, so is the subscription, and the process knows that it missed
messages.
"""

import json
import logging
import random
import re
import time
from collections.abc import Callable, Mapping
from typing import Any

from redis import Redis, RedisError
from redis.client import PubSub

log = logging.getLogger(__name__)

# The channels of terms, and of accounts.
CHANNELS = (
    "{t:*}:live",
    "{t:*}:recorded",
    "{t:*}:signal",
    "{t:*}:room",
    "{a:*}:ended",
    "{a:*}:notification",
)
SHARD_CHANNELS = ("live", "room")  # of a term: what functions publish
CHANNEL = re.compile(r"\{[ta]:(\d+)\}:(\w+)")
PING_SECONDS = 3.0
LOST_SECONDS = 8.0
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 3.0
DOUBLINGS = 4

Handler = Callable[[int, Any], None]  # the term or account, and the message


class Subscription:
    """Receives messages of every term; reconnects after the ledger was unavailable.

    With a `tag`, such as `{t:7}`, it receives those of a term's shard.
    """

    def __init__(
        self,
        redis: Redis,
        *,
        begun: Callable[[], None],
        handlers: Mapping[str, Handler],
        tag: str = "",
    ) -> None:
        self._redis = redis
        self._shard = [f"{tag}:{name}" for name in SHARD_CHANNELS] if tag else []
        self._begun = begun
        self._handlers = handlers
        self._failures = 0
        self.ended = False

    def run(self) -> None:
        """Listen until `ended`; call `begun` whenever messages may have been missed."""
        while not self.ended:
            try:
                with self._redis.pubsub() as pubsub:  # type: ignore[no-untyped-call]
                    if self._shard:
                        pubsub.ssubscribe(*self._shard)
                    else:
                        pubsub.psubscribe(*CHANNELS)
                    self._listen(pubsub)
            except (RedisError, OSError) as error:
                log.warning("lost the ledger's subscription: %s", error)
                self._pause()
            except Exception:
                log.exception("lost the ledger's subscription")
                self._pause()

    def _pause(self) -> None:
        """Wait longer after each failure, with jitter, so that not all reconnect at once."""
        longest = min(
            LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** min(self._failures, DOUBLINGS)
        )
        self._failures += 1
        time.sleep(random.uniform(0.05, longest))  # noqa: S311 - no secret

    def _listen(self, pubsub: PubSub) -> None:
        received = pinged = time.monotonic()
        while not self.ended:
            message = pubsub.get_message(timeout=1.0)
            now = time.monotonic()
            if self.ended:
                return  # another one may have begun to pass on the same
            if message:
                self._pass_on(message)
                received = now
            elif now - received > LOST_SECONDS:
                raise OSError("the ledger has been silent for too long")
            elif now - max(received, pinged) > PING_SECONDS:
                pinged = now
                pubsub.ping()

    def _pass_on(self, message: dict[str, Any]) -> None:
        kind = message["type"]
        if kind in {"psubscribe", "ssubscribe"}:
            # redis-py also reports this after it has silently reconnected.
            if message["data"] == len(self._shard or CHANNELS):
                self._begun()
                self._failures = 0
        elif kind == "sunsubscribe":
            raise OSError("another server has the term now")
        elif kind in {"pmessage", "smessage"} and (
            channel := CHANNEL.fullmatch(message["channel"].decode())
        ):
            self._handle(int(channel[1]), channel[2], message["data"])

    def _handle(self, number: int, kind: str, data: bytes) -> None:
        """Pass on one message; an unknown one must not block those that follow."""
        try:
            self._handlers[kind](number, json.loads(data))
        except Exception:
            log.exception("could not pass on a message %s of %s: %.500r", kind, number, data)
