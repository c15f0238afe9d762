"""Who is meant by a name just now, and signals to them."""

import signal
from collections.abc import Iterable
from contextlib import suppress

import psutil

from portal.core.redis_clients import parsed, pool
from tests import demo_cluster
from tests.faults.trial import Trial


def named(trial: Trial, name: str) -> str:
    """What its processes are called; the primary and a replica are whoever is that just now."""
    if name == "primary":
        return f"valkey-{primary(trial)}" if trial.clustered else "valkey"
    return f"valkey-{_replica(trial)}" if name == "replica" else name


def topology(trial: Trial) -> demo_cluster.Topology:
    """Where the servers of the ledger and their sentinels listen."""
    password = (trial.folder / "ledger-password").read_text()
    return demo_cluster.topology(trial.folder / "ledger", password)


def primary(trial: Trial) -> int:
    """The number of the server that the sentinels know as the primary."""
    at = topology(trial)
    _, port = pool(parsed(at.url)).get_master_address()
    return at.servers.index(port) + 1


def send(whom: Iterable[psutil.Process], how: signal.Signals) -> None:
    """Send each a signal, if it lives."""
    for process in whom:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(how)


def _replica(trial: Trial) -> int:
    """The first of those that follow the primary."""
    return 2 if primary(trial) == 1 else 1
