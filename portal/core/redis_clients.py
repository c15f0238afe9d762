"""Redis clients by purpose: commands, blocking reads and subscriptions never share one.

All of them lead to the server of the URL, or by `redis+sentinel://` to whoever is the primary.
"""

from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full
from select import POLLIN
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from gevent.monkey import get_original
from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ReadOnlyError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedConnection

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
        parsed(url)
    else:
        parse_url(url)  # type: ignore[no-untyped-call]


def behind_sentinels(url: str) -> bool:
    """Whether sentinels are to be asked for the server."""
    return url.startswith(f"{SCHEME}://")


def _client(url: str, **settings: Any) -> Redis:
    settings = {"socket_connect_timeout": 2.0, "retry": Retry(NoBackoff(), 0), **settings}
    if behind_sentinels(url):
        return Redis.from_pool(pool(parsed(url), **settings))
    return Redis.from_pool(PatientConnectionPool.from_url(url, **settings))


# Connections to a Redis server: quick to get, and waited for as long as it answers others.

TURNS = 10

_poll = get_original("select", "poll")  # gevent's own would look what else there is to do


class PatientConnectionPool(BlockingConnectionPool):
    """Redis-py's pool without its statistics, which cost as much again as a short command.

    It waits until no connection came back in `timeout` seconds with its answer, or ten times as
    long in all: in a rush it is this process that has much else to do, and the server is not away.
    """

    answered = 0

    def get_connection(self, *_: Any, **__: Any) -> Any:
        """A connection that nobody else has, to a server that is there."""
        self._checkpid()
        line = self._free() or self.make_connection()  # type: ignore[no-untyped-call]
        try:
            line.connect()
            if heard(line._sock.fileno()):  # noqa: SLF001  redis-py has no door to it
                line.disconnect()
                line.connect()
        except BaseException:
            self.release(line)
            raise
        return line

    def release(self, connection: Any) -> None:
        """Take a connection back; one that waited in vain is not connected any more."""
        self._checkpid()
        mine = self.owns_connection(connection)  # not of the process that has forked this one
        if not mine or connection.should_reconnect():
            connection.disconnect()
        self.answered += connection.is_connected
        with suppress(Full):  # all were given up meanwhile
            self.pool.put_nowait(connection if mine else None)

    def _free(self) -> Any:
        for _ in range(TURNS):
            before = self.answered
            with suppress(Empty):
                return self.pool.get(timeout=self.timeout)
            if self.answered == before:
                break
        raise NoConnection("No connection available.")


def heard(file: int) -> bool:
    """Whether a server has hung up on a connection that rested, or said what nobody asked for."""
    look = _poll()
    look.register(file, POLLIN)
    return bool(look.poll(0))


# Redis behind Sentinel: one URL gives its address, and connections follow its primary.
#
#     redis+sentinel://user:password@s1:26379,s2:26379,s3:26379/name?db=0&sentinel_password=secret
#
# `name` is the primary's name in Sentinel. User and password are those of the Redis servers; the
# sentinels have their own password, or none.


SCHEME = "redis+sentinel"
PORT = 26379
# Seconds for one sentinel: a dead one holds up whoever asks it first.
PATIENCE = 0.5
KNOWN = ("db", "sentinel_password")


@dataclass(frozen=True)
class Sentinels:
    """Where the sentinels are, and what they call the primary that is meant."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    username: str | None = None
    password: str | None = None
    db: int = 0
    sentinel_password: str | None = None


def parsed(url: str) -> Sentinels:
    """The parts of the URL; raises ValueError saying what is wrong with it."""
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    name = unquote(parts.path.strip("/"))
    if not name or "/" in name:
        raise ValueError(f"the primary's name is missing: {SCHEME}://{hosts}/name")
    query = parse_qs(parts.query, keep_blank_values=True)
    if unknown := query.keys() - set(KNOWN):
        raise ValueError(f"it says {min(unknown)}=, but only {'= and '.join(KNOWN)}= are known")
    db = query.get("db", ["0"])[-1]
    if not db.isdecimal():
        raise ValueError(f"db={db} is not the number of a database")
    found = tuple(_host(each.strip()) for each in hosts.split(","))
    user = unquote(username) or None, unquote(password) or None
    sentinels = query.get("sentinel_password", [""])[-1] or None
    return Sentinels(found, name, *user, int(db), sentinels)


def _host(text: str) -> tuple[str, int]:
    """One sentinel, such as `s1`, `s1:26379` or `[::1]:26379`."""
    try:
        given = urlsplit(f"//{text}")
        host, port = given.hostname, given.port
    except ValueError as error:
        raise ValueError(f"{text!r} is not a host and a port") from error
    if not host:
        raise ValueError("a sentinel's host is missing: give all of them, by commas")
    return host, PORT if port is None else port


def pool(sentinels: Sentinels, **settings: Any) -> PatientConnectionPool:
    """Connections to whoever is the primary; `settings` as for a plain pool."""
    asked: dict[str, Any] = {"socket_timeout": PATIENCE, "socket_connect_timeout": PATIENCE}
    once = Retry(NoBackoff(), 0)
    kwargs = {**asked, "retry": once, "password": sentinels.sentinel_password}
    manager = Sentinel(sentinels.hosts, sentinel_kwargs=kwargs)  # type: ignore[no-untyped-call]
    return _Pool(  # type: ignore[no-untyped-call]
        sentinels.name,
        manager,
        connection_class=_Line,
        username=sentinels.username,
        password=sentinels.password,
        db=sentinels.db,
        **settings,
    )


class _Line(SentinelManagedConnection):
    """A connection that is closed where its answers could fall out of step or its server is not it.

    One that refuses to write has lost its part or its replicas: the sentinels are asked anew.
    """

    def read_response(self, *args: Any, **settings: Any) -> Any:
        settings.setdefault("disconnect_on_error", True)
        try:
            # Not by the parent, which calls a refusal a lost answer.
            return super(SentinelManagedConnection, self).read_response(*args, **settings)
        except ResponseError as error:
            if isinstance(error, ReadOnlyError) or str(error).startswith("NOREPLICAS"):
                self.mark_for_reconnect()  # type: ignore[no-untyped-call]
            raise


class _Pool(SentinelConnectionPool, PatientConnectionPool):
    """Waits for a free connection where redis-py's own would raise."""

    def owns_connection(self, connection: Any) -> bool:
        """Whether it is of this process; redis-py's own leaks one with each failure to connect."""
        return bool(PatientConnectionPool.owns_connection(self, connection))

    def release(self, connection: Any) -> None:
        """Take a connection back; one that leads elsewhere by now asks the sentinels anew."""
        if (connection.host, connection.port) != self.master_address:
            connection.disconnect()
        super().release(connection)
