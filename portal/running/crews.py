"""The portal's own processes, beside the servers that they need: which there are, and how many."""

import os
import sys
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from portal.embedded import balancer
from portal.ops import scaling
from portal.running import renewal
from portal.running.children import Child

if TYPE_CHECKING:
    from portal.running.supervisor import Supervisor
    from portal.running.whole import Whole

# Those of which a cluster has two, so that one that is killed is not missed; of recorders and
# workers for errands there are always two, as an import keeps one of these busy for long.
TWICE = ("promote", "notify")
NODES = ("web-1", "web-2")
GUNICORN = (sys.executable, "-m", "gunicorn", "-c", "python:portal.server")


def alone(supervisor: "Whole") -> list[list[Child]]:
    """The web at the open door itself, then one of each other that must be there."""
    door = supervisor.door.fileno()
    web = supervisor.child("web")
    web.command = GUNICORN
    web.env = {**web.env, "FAIRSEAT_BIND": f"fd://{door}", **_started(supervisor, web)}
    # The door stays open here too, so that callers wait while the web is started again.
    web.keep_open = (door,)
    return [[web], [*workers(supervisor), supervisor.child("clock", "clock")]]


def clustered(supervisor: "Whole") -> list[list[Child]]:
    """Two web nodes, the balancer before them, then two of each that must never be missing."""
    supervisor.nodes = NODES
    clocks = [supervisor.child(f"clock-{number}", "clock") for number in (1, 2)]
    sockets = {name: Path(supervisor.servers.sockets or "", f"{name}.sock") for name in NODES}
    nodes = [_node(supervisor, name, socket) for name, socket in sockets.items()]
    folder = supervisor.folder
    door = supervisor.door.fileno()
    front = balancer.child(folder.path, door, sockets, folder.log("haproxy"))
    return [nodes, [front], [*workers(supervisor, TWICE), *clocks]]


def workers(supervisor: "Supervisor", twice: Collection[str] = ()) -> list[Child]:
    """The least of each queue, by the bounds of this machine; two of those that must be `twice`."""
    pools = scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
    return [
        supervisor.child(f"{queue}-{number}", "worker", queue)
        for queue, pool in pools.items()
        for number in range(1, max(pool.least, 2 if queue in twice else 1) + 1)
    ]


def _node(supervisor: "Whole", name: str, socket: Path) -> Child:
    node = supervisor.child(name)
    node.command = GUNICORN
    processes = os.environ.get("WEB_CONCURRENCY") or max(1, (os.cpu_count() or 1) // len(NODES))
    node.env = {
        **node.env,
        **_started(supervisor, node),
        "FAIRSEAT_BIND": f"unix:{socket}",
        "FAIRSEAT_PROXIES": "1",
        "WEB_CONCURRENCY": str(processes),
    }
    return node


def _started(supervisor: "Whole", child: Child) -> dict[str, str]:
    """Where a web server says that it serves, and what it waits for before it does."""
    started = supervisor.folder.path / f"{child.name}.started"
    renewal.reset(started)
    return {renewal.STARTED: str(started), renewal.PREPARED: str(supervisor.prepared)}
