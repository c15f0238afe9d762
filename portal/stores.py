"""Redis clients by purpose: commands, blocking reads and subscriptions never share one.

All of them lead to the server of the URL, or by `redis+sentinel://` to whoever is the primary.
"""

from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.retry import Retry

from portal import sentinel
from portal.lines import Lines

SILENCE = 3  # seconds that a server may take to answer where nothing else is said


def commands(url: str, *, timeout: float = 2.0, size: int = 64) -> Redis:
    """For short commands: none is sent twice; `timeout` (s) is for each part of it."""
    waits = {"timeout": timeout, "socket_timeout": timeout, "socket_connect_timeout": timeout}
    return _client(url, max_connections=size, **waits)


def ask(redis: Redis, *command: str | float) -> Any:
    """The reply to one command, as it comes: for what every request asks.

    Redis's own client does as much again around it, to try again and to be watched.
    """
    pool = redis.connection_pool
    line: Any = pool.get_connection()
    try:
        line.send_packed_command(line.pack_command(*command))
        return line.read_response()
    finally:
        pool.release(line)


def blocking(url: str, longest: float) -> Redis:
    """For RQ workers, whose reads block for so many seconds at most."""
    return _client(url, socket_timeout=longest + SILENCE, health_check_interval=20)


def subscriber(url: str) -> Redis:
    """For the one subscription of a process; reads come with timeouts of their own."""
    return _client(url, socket_timeout=SILENCE)


def check(url: str) -> None:
    """Raise ValueError, saying what is wrong, unless clients can be made for the URL."""
    if behind_sentinels(url):
        sentinel.parsed(url)
    else:
        parse_url(url)  # type: ignore[no-untyped-call]


def behind_sentinels(url: str) -> bool:
    """Whether sentinels are to be asked for the server."""
    return url.startswith(f"{sentinel.SCHEME}://")


def _client(url: str, **settings: Any) -> Redis:
    settings = {"socket_connect_timeout": 2.0, "retry": Retry(NoBackoff(), 0), **settings}
    if behind_sentinels(url):
        return Redis.from_pool(sentinel.pool(sentinel.parsed(url), **settings))
    return Redis.from_pool(Lines.from_url(url, **settings))
