"""Workers and a clock alone, for a portal whose web nodes and servers are elsewhere."""

import os
from collections.abc import Sequence

from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.running import crews
from portal.running.children import Child
from portal.running.kept import say
from portal.running.supervisor import Supervisor, owned


def work(folder: Folder, servers: Servers) -> None:
    """Run them until a signal comes; raises UpError, FolderError, SettingsError."""
    with owned(folder):
        Hands(folder, servers).run()


class Hands(Supervisor):
    """As many workers as the clocks ask for; one of the clocks of the portal is among them."""

    address = "workers alone"
    aloud = True  # in a container, or under systemd, which keep what is said there

    def crew(self) -> Sequence[Sequence[Child]]:
        """The least of each queue; the clock shows what all of them count."""
        port = os.environ.get("FAIRSEAT_METRICS_PORT", "")
        clock = self.child("clock", "clock")
        clock.env = {**clock.env, "FAIRSEAT_METRICS_PORT": port}
        return [[*crews.workers(self), clock]]

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
