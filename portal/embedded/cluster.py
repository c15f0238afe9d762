"""Real servers as a university would run them, but on one machine: the ledger with its replicas."""

import time
from pathlib import Path

from portal.embedded import PATIENCE, Servers, StartError, sentinels
from portal.embedded.sentinels import Topology
from portal.running.children import Child


class ClusterServers(Servers):
    """PostgreSQL, and a ledger of one primary and two replicas, with a sentinel for each."""

    def _start_valkey(self, sockets: Path) -> None:  # noqa: ARG002  sentinels know no such sockets
        at = sentinels.topology(self.folder.path / "ledger", self.folder.secret("ledger-password"))
        servers = [self._server(at, number) for number in range(1, len(at.servers) + 1)]
        guards = [self._sentinel(at, number) for number in range(1, len(at.sentinels) + 1)]
        # Those are stopped first that would take the stop of a server for a failure.
        self.children = [*guards, *servers]
        deadline = time.monotonic() + PATIENCE
        while not sentinels.in_sync(at.url):
            if time.monotonic() > deadline:
                raise StartError(f"No replica follows the ledger:\n{servers[-1].last_words()}")
            time.sleep(0.1)
        self.redis_url = at.url

    def _server(self, at: Topology, number: int) -> Child:
        log, lock = self.folder.log(f"valkey-{number}"), self.folder.lock
        child = sentinels.server(at, number, log, durable=self.durable, lock=lock)
        self._launch(child, lambda: sentinels.answers(at.server_url(number)))
        return child

    def _sentinel(self, at: Topology, number: int) -> Child:
        log, lock = self.folder.log(f"sentinel-{number}"), self.folder.lock
        child = sentinels.sentinel(at, number, log, lock=lock)
        self._launch(child, lambda: sentinels.answers(at.sentinel_url(number)))
        return child
