"""The servers of the ledger: one that has every key, or the primaries of a Valkey Cluster.

All keys of a term have one hash tag, so a term is one slot, and one server has all of it. A term's
client is therefore a client of one server at a time, as everywhere else; its connections follow the
primary of the slot. No command is sent to another server because of a redirection: while a slot is
moved key by key, that would split a term (decision record 43).
"""

import random
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any
from weakref import proxy

from redis import Redis
from redis.backoff import NoBackoff
from redis.connection import Connection
from redis.crc import key_slot
from redis.exceptions import (
    AskError,
    ClusterDownError,
    MovedError,
    RedisError,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as NoConnection
from redis.retry import Retry

from portal.core import redis_clients
from portal.core.redis_clients import Address, ClusterUrl, PatientConnectionPool, has_lost_its_role

TIMEOUT = 0.5  # seconds for one server to say what it knows of the cluster
UNSERVED = (AskError, TryAgainError, ClusterDownError)  # MOVED is an AskError


@dataclass(frozen=True)
class Primary:
    """A primary, and the hash tag of a slot that it has; "" if it has all keys."""

    redis: Redis
    tag: str = ""


class OneServer:
    """One server for all keys, or the current primary behind sentinels."""

    publish = "PUBLISH"  # the command that functions publish with

    def __init__(self, redis: Redis) -> None:
        self.any = redis

    def of(self, tag: str) -> Redis:  # noqa: ARG002  one server has all
        """Return the client for the keys with that hash tag, such as `{t:7}`."""
        return self.any

    def primaries(self) -> list[Primary]:
        """Return every primary; raise ConnectionError if they are unknown."""
        return [Primary(self.any)]

    def grouped(
        self,
        tags: Iterable[str],
        silent: Container[Address] = (),  # noqa: ARG002
    ) -> Iterator[tuple[Redis, list[str]]]:
        """Yield each client with those of the tags that it serves."""
        if found := list(tags):
            yield self.any, found

    def pools(self) -> list[Any]:
        """Return the connection pools in use."""
        return [self.any.connection_pool]

    def shard_subscriber(self, tag: str) -> Redis | None:  # noqa: ARG002
        """Return a client for what functions publish under a tag; None if any client hears it."""
        return None

    def close(self) -> None:
        self.any.close()


class ClusterServers:
    """The primaries of a cluster: each tag has the one of its slot."""

    publish = "SPUBLISH"  # only the servers of the slot's shard pass the message on

    def __init__(self, url: str, **settings: Any) -> None:
        self._cluster = Cluster(redis_clients.cluster(url))
        self._settings = settings
        self._clients: dict[str | Address, Redis] = {}
        self._lock = Lock()

    @cached_property
    def any(self) -> Redis:
        """The client of any server, for what does not depend on keys."""
        return Redis.from_pool(_ClusterPool(self._cluster, None, **self._settings))

    def of(self, tag: str) -> Redis:
        """Return the client for the keys with that hash tag, such as `{t:7}`."""
        return self._clients.get(tag) or self._add(
            tag, _ClusterPool(self._cluster, tag, **self._settings)
        )

    def primaries(self) -> list[Primary]:
        """Return every primary; raise ConnectionError if they are unknown."""
        return [
            Primary(self._at(address), _tag_in(slots))
            for address, slots in self._cluster.primaries()[1].items()
        ]

    def grouped(
        self, tags: Iterable[str], silent: Container[Address] = ()
    ) -> Iterator[tuple[Redis, list[str]]]:
        """Yield each client with those of the tags that it serves.

        Leaves out tags whose server is in `silent` by then, and still is their server.
        """
        for tag in tags:
            redis = self.of(tag)
            if not _is_silent(redis.connection_pool, silent):
                yield redis, [tag]

    def pools(self) -> list[Any]:
        """Return the connection pools in use."""
        return [each.connection_pool for each in (self.any, *self._clients.values())]

    def shard_subscriber(self, tag: str) -> Redis | None:
        """Return a client for what functions publish under a tag; None if any client hears it."""
        settings = {**self._settings, "socket_timeout": redis_clients.SILENCE, "max_connections": 2}
        return Redis.from_pool(_ClusterPool(self._cluster, tag, **settings))

    def close(self) -> None:
        for each in (self.any, *self._clients.values()):
            each.close()

    def _at(self, address: Address) -> Redis:
        settings = {"host": address[0], "port": address[1], **self._cluster.login, **self._settings}
        return self._clients.get(address) or self._add(
            address,
            PatientConnectionPool(**settings),  # type: ignore[no-untyped-call]
        )

    def _add(self, key: str | Address, pool: Any) -> Redis:
        with self._lock:
            return self._clients.setdefault(key, Redis.from_pool(pool))


Servers = OneServer | ClusterServers


def address_of(redis: Redis) -> Address | None:
    """Return the server of a cluster that a client was last connected to; None if there is none."""
    found: Address | None = getattr(redis.connection_pool, "address", None)
    return found


def servers(url: str, redis: Redis, **waits: Any) -> Servers:
    """Return the ledger's servers at the URL; `redis` is the client if it is one server.

    `waits` are those of `redis_clients.commands`.
    """
    if redis_clients.in_cluster(url):
        return ClusterServers(url, **redis_clients.settings_of_commands(**waits))
    return OneServer(redis)


class Cluster:
    """What the servers of a cluster know about it; asked at every new connection."""

    def __init__(self, url: ClusterUrl) -> None:
        self._given = url.hosts
        self._hosts = list(url.hosts)  # to ask: those given, and those that the last answer named
        self.login: dict[str, Any] = {"username": url.username, "password": url.password}

    def primaries(self) -> tuple[Address, dict[Address, list[range]]]:
        """Return which server answered, and the slots of each primary.

        Skips servers that are cut off from the majority: what they know may be out of date. Raises
        ConnectionError if no other one answers.
        """
        why = ""
        hosts = list(self._hosts)
        random.shuffle(hosts)
        for host, port in hosts:
            try:
                state, ranges = self._ask(host, port)
            except (RedisError, OSError) as error:
                why = str(error)
                continue
            if state != "ok":
                why = f"{host}:{port} misses a majority of the primaries, or slots have no server"
                continue
            found: dict[Address, list[range]] = {}
            known = set(self._given)
            for first, last, *nodes in ranges:
                # A server that does not know its own host is the one that answers.
                addresses = [((node[0] or b"").decode() or host, node[1]) for node in nodes]
                found.setdefault(addresses[0], []).append(range(first, last + 1))
                known.update(addresses)
            self._hosts = sorted(known)
            return (host, port), found
        raise NoConnection(f"The cluster of the ledger is down: {why}")

    def address(self, slot: int | None) -> Address:
        """Return the primary of a slot, or for None any server; raise ConnectionError."""
        some, primaries = self.primaries()
        if slot is None:
            return some
        for address, slots in primaries.items():
            if any(slot in each for each in slots):
                return address
        raise NoConnection(f"No server of the ledger's cluster has slot {slot}.")

    def _ask(self, host: str, port: int) -> tuple[str, Any]:
        waits: dict[str, Any] = {"socket_timeout": TIMEOUT, "socket_connect_timeout": TIMEOUT}
        once = Retry(NoBackoff(), 0)
        with (
            Redis(host=host, port=port, **self.login, **waits, retry=once) as redis,
            redis.pipeline(transaction=False) as pipe,
        ):
            pipe.execute_command("CLUSTER INFO")
            pipe.execute_command("CLUSTER SLOTS")
            info, ranges = pipe.execute()
        return info["cluster_state"], ranges


class _ClusterPool(PatientConnectionPool):
    """A pool of connections to the primary of a tag's slot, or without a tag to any server."""

    def __init__(self, cluster: Cluster, tag: str | None, **settings: Any) -> None:
        # A server that no longer has the slot has done nothing: ask the new one once.
        retry = Retry(NoBackoff(), 1, supported_errors=(MovedError,))
        options = {**settings, **cluster.login, "retry": retry}
        super().__init__(connection_class=_ClusterConnection, **options)  # type: ignore[no-untyped-call]
        self.connection_kwargs["pool"] = proxy(self)
        self.slot = None if tag is None else key_slot(tag.encode())
        # A message would not do: in a cluster, replicas get messages, but WAIT does not count them.
        self.marker = ("SET", f"{tag}:replicated", "")
        self.address: Address | None = None
        self._cluster = cluster

    def find(self) -> Address:
        """Return the address to connect to; idle connections to another one are closed."""
        found = self._cluster.address(self.slot)
        if found != self.address:
            self.address = found
            self.disconnect(inuse_connections=False)
        return found

    def release(self, connection: Any) -> None:
        """Take a connection back; one to a former primary is closed."""
        if (connection.host, connection.port) != self.address:
            connection.disconnect()
        super().release(connection)


class _ClusterConnection(Connection):
    """A connection that asks the cluster where to connect, again once its server lost the slot."""

    def __init__(self, *, pool: _ClusterPool, **settings: Any) -> None:
        self._pool = pool
        super().__init__(**settings)  # type: ignore[no-untyped-call]

    def _connect(self) -> Any:
        self.host, self.port = self._pool.find()
        return super()._connect()  # type: ignore[no-untyped-call]

    def read_response(self, *args: Any, **settings: Any) -> Any:
        settings.setdefault("disconnect_on_error", True)
        try:
            return super().read_response(*args, **settings)
        except ResponseError as error:
            if isinstance(error, UNSERVED) or has_lost_its_role(error):
                self.mark_for_reconnect()  # type: ignore[no-untyped-call]
            raise


def _is_silent(pool: Any, silent: Container[Address]) -> bool:
    try:
        return pool.address in silent and pool.find() in silent
    except NoConnection:
        return True


def _tag_in(slots: Sequence[range]) -> str:
    """Return a hash tag whose slot is one of these."""
    number = 0
    while not any(key_slot(f"{{{number}}}".encode()) in each for each in slots):
        number += 1
    return f"{{{number}}}"
