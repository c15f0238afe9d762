"""The whole portal on one machine, at one address."""

import os
import socket
import time
from collections.abc import Callable, Sequence

from portal.core import logs
from portal.embedded import Servers
from portal.embedded.folder import Folder
from portal.running.children import Child
from portal.running.door import UpError, address, not_ready, open_door
from portal.running.kept import greet, say
from portal.running.starting import StartingPage
from portal.running.supervisor import PATIENCE, Supervisor, owned

Crew = Callable[["Whole"], Sequence[Sequence[Child]]]  # groups, in the order of their start


def supervise(folder: Folder, servers: Servers, crew: Crew) -> None:
    """Run all of it until a signal comes.

    Raises UpError, FolderError or StartError; SettingsError before anything is begun.
    """
    with owned(folder):
        # The web server of an owner that was killed needs a moment to leave the port.
        patience = 15.0 if folder.abandoned else 0.0
        door = open_door(os.environ.get("HOST") or "127.0.0.1", _port(), patience)
        Whole(folder, servers, door, crew).run()


def _port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise UpError(f"PORT={given} is not a port: choose one between 1 and 65535.")
    return int(given)


class Whole(Supervisor):
    """A web server or several, workers, clocks, and the servers that are not given."""

    def __init__(self, folder: Folder, servers: Servers, door: socket.socket, crew: Crew) -> None:
        super().__init__(folder, servers)
        self.door = door
        self.address = address(door)
        self.prepared = folder.path / "prepared"  # the file that web servers wait for
        self.prepared.unlink(missing_ok=True)
        self._crew = crew
        self._starting_page = StartingPage(door, folder.log("starting-page"))

    def run(self) -> None:
        """Answer whoever comes from the first moment on: with 503 until the web serves."""
        self._starting_page.begin()
        try:
            super().run()
        finally:
            self._starting_page.end()

    def crew(self) -> Sequence[Sequence[Child]]:
        """Those that were asked for."""
        return self._crew(self)

    def look_after(self) -> None:
        """Do so, and answer at the door while no web server does."""
        if not self.restarting:  # then old web servers serve until new ones do
            self._try(lambda: self._starting_page.look_after(self.kept))
        super().look_after()

    def prepare(self) -> None:
        """Migrate, make the demo and warm up, in a process of its own; then let the web serve."""
        child = self.child("prepare", "prepare")
        child.env = {**child.env, **self.servers.all_urls()}
        child.start()
        try:
            while child.alive:
                self.pause(0.1)
        finally:
            child.stop(patience=2)
        if child.process and child.process.returncode:
            raise UpError(f"The database could not be prepared:\n{child.last_words(30)}")
        self.prepared.touch()

    def greet(self) -> None:
        """Wait until the portal is ready, then print where it is and who may log in."""
        nagged = time.monotonic()
        while missing := self.missing():
            self.pause(0.2)
            self.look_after()
            if time.monotonic() - nagged > PATIENCE:
                nagged = time.monotonic()
                say(f"Not ready yet: {missing}.")
        say(f"Ready: {self.address}")
        if os.environ.get("FAIRSEAT_LOG") == "json":
            return  # whoever reads that is not to read a password
        if logs.in_json():
            greet(f"Ready: {self.address}")
        password = self.folder.path / "demo-password"
        if password.exists():
            greet("  Demo accounts: student0001 to student2000, instructor01 and on, admin")
            greet(f"  Their password: {password.read_text()}")
        greet("  Ctrl-C stops everything; the data stays.")

    def missing(self) -> str:
        """What `/ready` says is missing."""
        return not_ready(self.address, os.environ.get("FAIRSEAT_METRICS_TOKEN", ""))

    def shut(self) -> None:
        """Close the door."""
        self._starting_page.end()
        self.door.close()
