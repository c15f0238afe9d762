"""Redis clients by purpose: commands, blocking reads and subscriptions never share one.

All lead to the server in the URL, or with `redis+sentinel://` to the current primary. Those of a
cluster are in `ledger_servers`.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, Full
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis import BlockingConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.connection import parse_url
from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ReadOnlyError, RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
)

from portal.core.idle_connections import has_unread_data

Address = tuple[str, int]

SILENCE = 3  # seconds for a server to answer by default


def commands(url: str, *, timeout: float = 2.0, size: int = 64) -> Redis:
    """Return a client for short commands; it sends none twice. `timeout` (s) is per part."""
    return _client(url, **settings_of_commands(timeout=timeout, size=size))


def settings_of_commands(*, timeout: float = 2.0, size: int = 64) -> dict[str, Any]:
    """Return the settings of a pool for short commands."""
    waits = {"timeout": timeout, "socket_timeout": timeout, "socket_connect_timeout": timeout}
    return {"max_connections": size, **waits}


def blocking(url: str, longest: float) -> Redis:
    """Return a client for RQ workers, whose reads block at most `longest` seconds."""
    return _client(url, socket_timeout=longest + SILENCE, health_check_interval=20)


def subscriber(url: str) -> Redis:
    """Return a client for the process's one subscription; reads have their own timeouts."""
    return _client(url, socket_timeout=SILENCE)


def check(url: str) -> None:
    """Raise ValueError with the reason if no client can be made for the URL."""
    if behind_sentinels(url):
        parsed(url)
    elif in_cluster(url):
        cluster(url)
    else:
        parse_url(url)  # type: ignore[no-untyped-call]


def behind_sentinels(url: str) -> bool:
    """Return whether the URL names sentinels."""
    return url.startswith(f"{SCHEME}://")


def in_cluster(url: str) -> bool:
    """Return whether the URL names servers of a cluster."""
    return url.startswith(f"{CLUSTER}://")


def _client(url: str, **settings: Any) -> Redis:
    settings = {"socket_connect_timeout": 2.0, "retry": Retry(NoBackoff(), 0), **settings}
    if behind_sentinels(url):
        return Redis.from_pool(pool(parsed(url), **settings))
    return Redis.from_pool(PatientConnectionPool.from_url(url, **settings))


# A connection pool that waits as long as the server answers other callers.

TURNS = 10


class PatientConnectionPool(BlockingConnectionPool):
    """A pool whose callers wait for a connection while others get answers.

    A caller gives up when no connection has come back with an answer for `timeout` seconds, or
    after ten times that. In a rush this process is busy; the server is not down.

    Redis-py's own pool keeps statistics, and its check of an idle connection lets gevent switch to
    other greenlets: 31 µs of processor time for a short command instead of 14.
    """

    answered = 0
    # What its server replicates, but does not store (`replicas.behind`).
    marker: tuple[str, ...] = ("PUBLISH", "replicated", "")

    @property
    def server(self) -> Address | None:
        """Return the server that connections lead to; None if only one is possible."""
        return None

    def server_of(self, connection: Any) -> Address | None:  # noqa: ARG002
        """Return the server that a connection leads to; None if only one is possible."""
        return None

    def replicas(self) -> int:
        """Return how many replicas the sentinels know; 0 without sentinels."""
        return 0

    def is_primary(self, server: Address | None) -> bool:  # noqa: ARG002  no sentinels, no other
        """Return whether no other server has been promoted in its place."""
        return True

    def get_connection(self, *_: Any, **__: Any) -> Any:
        """Return a free connection to a server that is there."""
        self._checkpid()
        connection = self._free() or self.make_connection()  # type: ignore[no-untyped-call]
        try:
            connection.connect()
            if has_unread_data(connection._sock.fileno()):  # noqa: SLF001  redis-py has no method
                connection.disconnect()
                connection.connect()
        except BaseException:
            self.release(connection)
            raise
        return connection

    def release(self, connection: Any) -> None:
        """Take a connection back; disconnect one whose reader gave up."""
        self._checkpid()
        mine = self.owns_connection(connection)  # false if the parent opened it before a fork
        if not mine or connection.should_reconnect():
            connection.disconnect()
        self.answered += connection.is_connected
        with suppress(Full):  # all were discarded meanwhile
            self.pool.put_nowait(connection if mine else None)

    def _free(self) -> Any:
        for _ in range(TURNS):
            before = self.answered
            with suppress(Empty):
                return self.pool.get(timeout=self.timeout)
            if self.answered == before:
                break
        raise NoConnection("No connection available.")


# Redis behind Sentinel: one URL gives the addresses; connections follow the primary.
#
#     redis+sentinel://user:password@s1:26379,s2:26379,s3:26379/name?db=0&sentinel_password=secret
#
# `name` is the primary's name in Sentinel. User and password are those of the Redis servers; the
# sentinels have their own password, or none.


SCHEME = "redis+sentinel"
PORT = 26379
# Seconds for one sentinel: a dead one delays the caller that asks it first.
TIMEOUT = 0.5
KNOWN = ("db", "sentinel_password")


@dataclass(frozen=True)
class Sentinels:
    """The sentinels' addresses, and their name for the primary."""

    hosts: tuple[tuple[str, int], ...]
    name: str
    username: str | None = None
    password: str | None = None
    db: int = 0
    sentinel_password: str | None = None


def parsed(url: str) -> Sentinels:
    """Return the parts of the URL; raise ValueError with the reason if it is invalid."""
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
    found = tuple(_host(each.strip(), PORT, "sentinel") for each in hosts.split(","))
    user = unquote(username) or None, unquote(password) or None
    sentinels = query.get("sentinel_password", [""])[-1] or None
    return Sentinels(found, name, *user, int(db), sentinels)


def _host(text: str, default: int, kind: str) -> tuple[str, int]:
    """Return the host and port in `s1`, `s1:26379` or `[::1]:26379`."""
    try:
        given = urlsplit(f"//{text}")
        host, port = given.hostname, given.port
    except ValueError as error:
        raise ValueError(f"{text!r} is not a host and a port") from error
    if not host:
        raise ValueError(f"a {kind}'s host is missing: give all of them, by commas")
    return host, default if port is None else port


def pool(sentinels: Sentinels, **settings: Any) -> PatientConnectionPool:
    """Return a pool of connections to the current primary; `settings` as for a plain pool."""
    options: dict[str, Any] = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
    once = Retry(NoBackoff(), 0)
    kwargs = {**options, "retry": once, "password": sentinels.sentinel_password}
    manager = _Sentinel(sentinels.hosts, sentinel_kwargs=kwargs)
    return _Pool(
        sentinels.name,
        manager,
        connection_class=_Connection,
        username=sentinels.username,
        password=sentinels.password,
        db=sentinels.db,
        **settings,
    )


class _Connection(SentinelManagedConnection):
    """A connection that closes if replies could get out of step or its server is not primary.

    A server that refuses writes has lost its role or its replicas: ask the sentinels again.
    """

    def read_response(self, *args: Any, **settings: Any) -> Any:
        settings.setdefault("disconnect_on_error", True)
        try:
            # Not the parent's method, which treats a refusal as a lost answer.
            return super(SentinelManagedConnection, self).read_response(*args, **settings)
        except ResponseError as error:
            if has_lost_its_role(error):
                self.mark_for_reconnect()  # type: ignore[no-untyped-call]
            raise


def has_lost_its_role(error: ResponseError) -> bool:
    """Return whether a server refuses writes because it is a replica, or has too few replicas."""
    return isinstance(error, ReadOnlyError) or str(error).startswith("NOREPLICAS")


class _Sentinel(Sentinel):
    """Sentinels that name the primary by majority, where redis-py takes the first answer.

    In a partly split network, those beside a former primary still name it.
    """

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)  # type: ignore[no-untyped-call]
        # Those that did not answer, with their last error: asked last, as each takes a timeout.
        self._silent: dict[Redis, RedisError] = {}

    def discover_master(self, service_name: str) -> Address:
        """Return the server named by most sentinels that answer.

        Raise MasterNotFoundError, with the error of each sentinel that did not answer.
        """
        votes = self.votes(service_name)
        server, most = next(iter(votes.most_common(1)), (None, 0))
        if server is None or 2 * most <= votes.total():
            silent = [f"{_address(each)}: {error}" for each, error in list(self._silent.items())]
            problem = f"The sentinels name no primary of {service_name!r}."
            raise MasterNotFoundError(" ".join([problem, *silent]))
        return server

    def votes(self, name: str) -> Counter[Address | None]:
        """Count the sentinels' votes for each server; stop at a majority."""
        votes = Counter[Address | None]()
        for state in self._states(name):
            is_up = self.check_master_state(state, name)  # type: ignore[no-untyped-call]
            server = (state["ip"], state["port"]) if is_up else None
            votes[server] += 1
            if server and self.is_most(votes[server]):
                break
        return votes

    def is_most(self, votes: int) -> bool:
        """Return whether a number of sentinels is the majority."""
        return 2 * votes > len(self.sentinels)

    def replicas(self, name: str) -> int:
        """Return how many replicas a primary has had, including those that are away."""
        return max((state["num-slaves"] for state in self._states(name)), default=0)

    def _states(self, name: str) -> Iterator[dict[str, Any]]:
        """Ask one sentinel after the other what it knows of a primary."""
        for sentinel in sorted(self.sentinels, key=self._silent.__contains__):
            try:
                masters: Any = sentinel.sentinel_masters()
            except RedisError as error:
                self._silent[sentinel] = error
                continue
            self._silent.pop(sentinel, None)
            if state := masters.get(name):
                yield state


def _address(sentinel: Redis) -> str:
    settings = sentinel.connection_pool.connection_kwargs
    return f"{settings['host']}:{settings['port']}"


class _Pool(SentinelConnectionPool, PatientConnectionPool):
    """Waits for a free connection where redis-py's pool raises."""

    sentinel_manager: _Sentinel

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)  # type: ignore[no-untyped-call]
        self._asking = Lock()
        self._asked = 0.0  # when the sentinels were last asked (monotonic)
        self._votes = Counter[Address | None]()

    @property
    def server(self) -> Address | None:
        """Return the primary as far as this process knows."""
        return self.master_address  # type: ignore[no-any-return]

    def server_of(self, connection: Any) -> Address | None:
        """Return the server that a connection leads to."""
        return connection.host, connection.port

    def is_primary(self, server: Address | None) -> bool:
        """Ask the sentinels now, and return whether most of them name this server.

        Callers who come while they are being asked share the next answer.
        """
        came = monotonic()
        with self._asking:
            if self._asked < came:
                self._asked = monotonic()
                self._votes = self.sentinel_manager.votes(self.service_name)
            votes = self._votes
        return server is not None and self.sentinel_manager.is_most(votes[server])

    def replicas(self) -> int:
        """Return how many replicas the sentinels know, including those that are away."""
        return self.sentinel_manager.replicas(self.service_name)

    def owns_connection(self, connection: Any) -> bool:
        """Return whether this process opened it; redis-py leaks one per failed connect."""
        return bool(PatientConnectionPool.owns_connection(self, connection))

    def release(self, connection: Any) -> None:
        """Take a connection back; one to a former primary asks the sentinels again."""
        if (connection.host, connection.port) != self.master_address:
            connection.disconnect()
        super().release(connection)


# A Valkey or Redis Cluster: `redis+cluster://user:password@h1:6379,h2:6379,h3:6379`. The URL names
# some of its servers; these know the others.

CLUSTER = "redis+cluster"


@dataclass(frozen=True)
class ClusterUrl:
    """Some servers of a cluster, and the login that all of them accept."""

    hosts: tuple[tuple[str, int], ...]
    username: str | None = None
    password: str | None = None


def cluster(url: str) -> ClusterUrl:
    """Return the parts of the URL; raise ValueError with the reason if it is invalid."""
    parts = urlsplit(url)
    login, _, hosts = parts.netloc.rpartition("@")
    username, _, password = login.partition(":")
    if parts.path.strip("/") or parts.query:
        raise ValueError(f"a cluster has neither a database nor options: {CLUSTER}://{hosts}")
    found = tuple(_host(each.strip(), 6379, "server") for each in hosts.split(","))
    return ClusterUrl(found, unquote(username) or None, unquote(password) or None)
