"""The portal's own processes, beside the servers that they need: which there are, and how many."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from portal.embedded import balancer
from portal.running import renewal
from portal.running.children import Child

if TYPE_CHECKING:
    from portal.running.supervisor import Supervisor

# A second recorder stands by, so that one that is killed is not missed. Imports are done one at a
# time, so a second worker for errands has time for audits.
WORKERS = ("record", "record", "promote", "maintain", "notify", "errands", "errands")
CLUSTER_WORKERS = (*WORKERS, "promote", "notify")
NODES = ("web-1", "web-2")
GUNICORN = (sys.executable, "-m", "gunicorn", "-c", "python:portal.server")


def alone(supervisor: "Supervisor") -> list[Child]:
    """One of each that must be there, and the web at the open door itself."""
    door = supervisor.door.fileno()
    web = supervisor.child("web")
    web.command = GUNICORN
    web.env = {**web.env, "FAIRSEAT_BIND": f"fd://{door}", **_started(supervisor, web)}
    # The door stays open here too, so that callers wait while the web is started again.
    web.keep_open = (door,)
    return [*_workers(supervisor, WORKERS), supervisor.child("clock", "clock"), web]


def clustered(supervisor: "Supervisor") -> list[Child]:
    """Two of each that must never be missing; two web nodes behind a balancer."""
    supervisor.nodes = NODES
    clocks = [supervisor.child(f"clock-{number}", "clock") for number in (1, 2)]
    sockets = {name: Path(supervisor.servers.sockets or "", f"{name}.sock") for name in NODES}
    nodes = [_node(supervisor, name, socket) for name, socket in sockets.items()]
    folder = supervisor.folder
    door = supervisor.door.fileno()
    front = balancer.child(folder.path, door, sockets, folder.log("haproxy"))
    return [*_workers(supervisor, CLUSTER_WORKERS), *clocks, *nodes, front]


def _workers(supervisor: "Supervisor", queues: tuple[str, ...]) -> list[Child]:
    names = [f"{queue}-{queues[: at + 1].count(queue)}" for at, queue in enumerate(queues)]
    return [
        supervisor.child(name, "worker", queue) for name, queue in zip(names, queues, strict=True)
    ]


def _node(supervisor: "Supervisor", name: str, socket: Path) -> Child:
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


def _started(supervisor: "Supervisor", child: Child) -> dict[str, str]:
    """Where a web server says that it serves."""
    return {renewal.STARTED: str(supervisor.folder.path / f"{child.name}.started")}
