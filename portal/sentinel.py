"""Redis behind sentinels: its address in one URL, and connections that follow its primary.

redis+sentinel://user:password@s1:26379,s2:26379,s3:26379/name?db=0&sentinel_password=secret: the
primary that the sentinels know as `name`. User and password are those of the servers; the sentinels
have a password of their own, or none.
"""

from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from redis.backoff import NoBackoff
from redis.exceptions import ReadOnlyError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel, SentinelConnectionPool, SentinelManagedConnection

from portal.lines import Lines

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


def pool(sentinels: Sentinels, **settings: Any) -> Lines:
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


class _Pool(SentinelConnectionPool, Lines):
    """Waits for a free connection where redis-py's own would raise."""

    def owns_connection(self, connection: Any) -> bool:
        """Whether it is of this process; redis-py's own leaks one with each failure to connect."""
        return bool(Lines.owns_connection(self, connection))

    def release(self, connection: Any) -> None:
        """Take a connection back; one that leads elsewhere by now asks the sentinels anew."""
        if (connection.host, connection.port) != self.master_address:
            connection.disconnect()
        super().release(connection)
