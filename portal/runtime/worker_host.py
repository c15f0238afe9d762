"""Workers and a clock alone, for a portal whose web nodes and servers are elsewhere."""

import os
from collections.abc import Sequence

from portal.runtime import supervisor
from portal.runtime.child_process import Child, say
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers
from portal.runtime.supervisor import Supervisor, owned


def work(folder: DataFolder, servers: Servers) -> None:
    """Run them until a signal comes; raises UpError, FolderError, SettingsError."""
    with owned(folder):
        WorkerHost(folder, servers).run()


class WorkerHost(Supervisor):
    """As many workers as the clocks ask for; one of the clocks of the portal is among them."""

    address = "workers alone"
    aloud = True  # in a container, or under systemd, which keep what is said there

    def crew(self) -> Sequence[Sequence[Child]]:
        """The least of each queue; the clock shows what all of them count."""
        port = os.environ.get("FAIRSEAT_METRICS_PORT", "")
        clock = self.child("clock", "clock")
        clock.env = {**clock.env, "FAIRSEAT_METRICS_PORT": port}
        return [[*supervisor.workers(self), clock]]

    def prepare(self) -> None:
        """Nothing: that is done where the portal is."""

    def greet(self) -> None:
        """Say that they have begun; they wait for PostgreSQL and the ledger themselves."""
        say("Workers and a clock are started.")

    def missing(self) -> str:
        """Nothing that would be known here."""
        return ""

    def shut(self) -> None:
        """Nothing: nobody comes here."""
