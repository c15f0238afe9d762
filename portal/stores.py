"""Redis clients by purpose: commands, blocking reads and subscriptions never share one."""

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.retry import Retry


def commands(url: str, *, timeout: float = 2.0, size: int = 64) -> Redis:
    """For short commands: waits for a free connection, and never sends one twice."""
    pool = BlockingConnectionPool.from_url(
        url,
        max_connections=size,
        timeout=timeout,
        socket_timeout=timeout,
        socket_connect_timeout=timeout,
        retry=Retry(NoBackoff(), 0),
    )
    return Redis(connection_pool=pool)


def blocking(url: str) -> Redis:
    """For RQ workers, whose reads may block for minutes."""
    return Redis.from_url(
        url, socket_timeout=None, socket_connect_timeout=3, health_check_interval=20
    )


def subscriber(url: str) -> Redis:
    """For the one subscription of a process; reads come with timeouts of their own."""
    return Redis.from_url(url, socket_timeout=None, socket_connect_timeout=3)
