"""The one subscription of this process to what the ledger and the recorder publish."""

import json
import logging
import random
import re
import time
from collections.abc import Callable
from typing import Any

from redis import Redis, RedisError
from redis.client import PubSub

log = logging.getLogger(__name__)

CHANNELS = ("{t:*}:live", "{t:*}:recorded")
CHANNEL = re.compile(rb"\{t:(\d+)\}:(live|recorded)")
PING_SECONDS = 5.0
LOST_SECONDS = 12.0
LONGEST_WAIT_SECONDS = 3.0


class Subscription:
    """Hears of every term; comes back by itself after the ledger was away."""

    def __init__(
        self,
        redis: Redis,
        *,
        begun: Callable[[], None],
        live: Callable[[int, dict[str, Any]], None],
        recorded: Callable[[int, dict[str, Any]], None],
    ) -> None:
        self._redis = redis
        self._begun = begun
        self._tell = {b"live": live, b"recorded": recorded}
        self.ended = False

    def run(self) -> None:
        """Listen until `ended`; `begun` is called whenever something may have been missed."""
        failures = 0
        while not self.ended:
            try:
                with self._redis.pubsub() as pubsub:  # type: ignore[no-untyped-call]
                    pubsub.psubscribe(*CHANNELS)
                    failures = self._listen(pubsub, failures)
            except (RedisError, OSError) as error:
                failures += 1
                log.warning("lost the ledger's subscription: %s", error)
                longest = min(LONGEST_WAIT_SECONDS, 0.1 * 2**failures)
                time.sleep(random.uniform(0.05, longest))  # noqa: S311 - no secret

    def _listen(self, pubsub: PubSub, failures: int) -> int:
        heard = asked = time.monotonic()
        while not self.ended:
            message = pubsub.get_message(timeout=1.0)
            now = time.monotonic()
            if message:
                heard, failures = now, 0
                self._pass_on(message)
            elif now - heard > LOST_SECONDS:
                raise OSError("the ledger has been silent for too long")
            elif now - max(heard, asked) > PING_SECONDS:
                asked = now
                pubsub.ping()
        return failures

    def _pass_on(self, message: dict[str, Any]) -> None:
        if message["type"] == "psubscribe":
            # redis-py also says so after it has silently connected again.
            if message["data"] == len(CHANNELS):
                self._begun()
        elif message["type"] == "pmessage" and (channel := CHANNEL.fullmatch(message["channel"])):
            self._tell[channel[2]](int(channel[1]), json.loads(message["data"]))
