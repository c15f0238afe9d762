"""Who is cut off: from everybody, or from a store alone."""

import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

import psutil
from redis import Redis
from redis.exceptions import ConnectionError  # noqa: A004  Redis's own

from portal.core import redis_clients
from portal.runtime import embedded_postgres
from portal.runtime.embedded_postgres import DATABASE
from tests import demo_cluster
from tests.faults import proxies
from tests.faults.processes import named, primary, send, topology
from tests.faults.trial import Trial, until
from tests.ports import free_port

Undo = Callable[[], None]


def cut_off(trial: Trial) -> Undo:
    """The primary runs, but no one can reach it and it can reach no one."""
    return _cut_off(trial, topology(trial), primary(trial))


def no_ledger(trial: Trial) -> Undo:
    """No one can reach any server of the ledger."""
    at, held = topology(trial), ExitStack()
    for number in range(1, len(at.servers) + 1):
        held.callback(_cut_off(trial, at, number))
    return held.close


def _cut_off(trial: Trial, at: demo_cluster.Topology, number: int) -> Undo:
    held = ExitStack()
    redis = held.enter_context(redis_clients.commands(at.server_url(number), size=1))
    redis.ping()
    redis.config_set("port", 0)
    for kind in ("replica", "pubsub", "normal"):
        with suppress(Exception):  # no client of that kind
            redis.client_kill_filter(_type=kind, skipme=True)

    def undo() -> None:
        reopen(trial, at, number, redis)
        held.close()

    return undo


def reopen(trial: Trial, at: demo_cluster.Topology, number: int, redis: Redis) -> None:
    """Have a server listen at its port again.

    A sentinel that makes it a replica ends our connection too: then a restart opens the port.
    """
    try:
        redis.config_set("port", at.servers[number - 1])
    except ConnectionError:
        send(trial.heads(f"valkey-{number}"), signal.SIGKILL)


def cut_from_ledger(name: str) -> Callable[[Trial], Undo]:
    """They run, but hear nothing of any server of the ledger, and it nothing of them."""

    def do(trial: Trial) -> Undo:
        at, own = topology(trial), named(trial, name)
        with ExitStack() as undo:
            found = [
                _door(trial, number, undo, _held(trial, own, number, port))
                for number, port in enumerate(at.servers, 1)
            ]
            return _shut(found, undo)

    return do


def _held(trial: Trial, name: str, number: int, port: int) -> proxies.Held:
    """Those so named are held, at all servers of the ledger; at their own door all others are."""
    if name == f"valkey-{number}":
        return lambda callers: callers
    known = _processes(trial, name)
    return lambda callers: callers & proxies.ports(known(), port)


def _processes(trial: Trial, name: str) -> Callable[[], set[int]]:
    """Asks for the processes so named; who has started which is looked up once."""
    known: dict[tuple[int, ...], set[int]] = {}

    def ask() -> set[int]:
        heads = tuple(each.pid for each in trial.heads(name))
        if heads not in known:
            known[heads] = {each.pid for each in trial.family(name)}
        return known[heads]

    return ask


def _door(trial: Trial, number: int, undo: ExitStack, held: proxies.Held) -> proxies.Door:
    """Return a door before a server of the ledger: those held must connect again through it."""
    at = topology(trial)
    redis = undo.enter_context(redis_clients.commands(at.server_url(number), size=1))
    port, behind = at.servers[number - 1], free_port()
    redis.config_set("replica-announce-port", port)
    undo.callback(_announce_own_port, redis)
    redis.config_set("port", behind)
    undo.callback(reopen, trial, at, number, redis)
    door = proxies.of_port(port, behind, held)
    undo.callback(door.leave)
    clients = {int(each["addr"].rpartition(":")[2]): each["id"] for each in redis.client_list()}
    for caller in held(set(clients)):
        redis.client_kill_filter(_id=clients[caller], skipme=True)
    return door


def _announce_own_port(redis: Redis) -> None:
    with suppress(ConnectionError):  # it restarts
        redis.config_set("replica-announce-port", 0)


def _shut(found: Sequence[proxies.Door], undo: ExitStack) -> Undo:
    """Shut them once somebody who is held has come in: what is said just then is cut off too."""
    until(lambda: any(door.carried.is_set() for door in found), "nobody comes by the doors")
    for door in found:
        door.shut()
    return undo.pop_all().close


def no_postgresql(trial: Trial) -> Undo:
    """It runs, but no one can reach it, and open connections are cut."""
    path = _socket(trial)
    away = path.rename(path.with_name("away"))
    clients = [each for each in trial.family("postgres") if f"{DATABASE} [local]" in _line(each)]
    send(clients, signal.SIGTERM)
    return lambda: away.rename(path) and None


def cut_from_postgresql(name: str) -> Callable[[Trial], Undo]:
    """They run, but hear nothing of PostgreSQL, and it nothing of them."""

    def do(trial: Trial) -> Undo:
        path = _socket(trial)
        with ExitStack() as undo:
            undo.callback(no_postgresql(trial))  # so that all must connect again
            known = _processes(trial, name)
            door = proxies.of_path(path, path.with_name("away"), lambda callers: callers & known())
            undo.callback(door.leave)
            return _shut([door], undo)

    return do


def _socket(trial: Trial) -> Path:
    [path] = embedded_postgres.socket_folder(Path(trial.run.sockets)).glob(".s.PGSQL.*[0-9]")
    return path


def _line(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""
