"""The only subscription of this process to what the ledger and the recorder publish."""

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
    "{t:*}:told",
    "{t:*}:room",
    "{a:*}:ended",
    "{a:*}:notice",
)
CHANNEL = re.compile(r"\{[ta]:(\d+)\}:(\w+)")
PING_SECONDS = 3.0
LOST_SECONDS = 8.0
FIRST_WAIT_SECONDS = 0.2
LONGEST_WAIT_SECONDS = 3.0
DOUBLINGS = 4

Handler = Callable[[int, Any], None]  # the term or account, and the message


class Subscription:
    """Receives messages of every term; reconnects after the ledger was unavailable."""

    def __init__(
        self,
        redis: Redis,
        *,
        begun: Callable[[], None],
        handlers: Mapping[str, Handler],
    ) -> None:
        self._redis = redis
        self._begun = begun
        self._handlers = handlers
        self._failures = 0
        self.ended = False

    def run(self) -> None:
        """Listen until `ended`; call `begun` whenever messages may have been missed."""
        while not self.ended:
            try:
                with self._redis.pubsub() as pubsub:  # type: ignore[no-untyped-call]
                    pubsub.psubscribe(*CHANNELS)
                    self._listen(pubsub)
            except (RedisError, OSError) as error:
                log.warning("lost the ledger's subscription: %s", error)
                self._rest()
            except Exception:
                log.exception("lost the ledger's subscription")
                self._rest()

    def _rest(self) -> None:
        """Wait longer after each failure, with jitter, so that not all reconnect at once."""
        longest = min(
            LONGEST_WAIT_SECONDS, FIRST_WAIT_SECONDS * 2 ** min(self._failures, DOUBLINGS)
        )
        self._failures += 1
        time.sleep(random.uniform(0.05, longest))  # noqa: S311 - no secret

    def _listen(self, pubsub: PubSub) -> None:
        heard = pinged = time.monotonic()
        while not self.ended:
            message = pubsub.get_message(timeout=1.0)
            now = time.monotonic()
            if message:
                self._pass_on(message)
                heard = now
            elif now - heard > LOST_SECONDS:
                raise OSError("the ledger has been silent for too long")
            elif now - max(heard, pinged) > PING_SECONDS:
                pinged = now
                pubsub.ping()

    def _pass_on(self, message: dict[str, Any]) -> None:
        if message["type"] == "psubscribe":
            # redis-py also reports this after it has silently reconnected.
            if message["data"] == len(CHANNELS):
                self._begun()
                self._failures = 0
        elif message["type"] == "pmessage" and (channel := _parts(message["channel"])):
            self._tell_of(int(channel[1]), channel[2], message["data"])

    def _tell_of(self, of: int, kind: str, data: bytes) -> None:
        """Pass on one message; an unknown one must not block those that follow."""
        try:
            self._handlers[kind](of, json.loads(data))
        except Exception:
            log.exception("could not pass on what is %s of %s: %.500r", kind, of, data)


def _parts(channel: bytes) -> re.Match[str] | None:
    return CHANNEL.fullmatch(channel.decode())
