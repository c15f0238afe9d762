"""Real servers for a machine without any: PostgreSQL and Valkey, on private sockets."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from portal.runtime import embedded_postgres, embedded_valkey, service_account
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder, StartupError
from portal.runtime.embedded_postgres import Access

LONGEST_SOCKET_FOLDER = 107 - len("/postgres/.s.PGSQL.5432.lock")
START_TIMEOUT = 60.0


class Servers:
    """The embedded servers of one data folder; none for a URL given from outside."""

    def __init__(
        self,
        folder: DataFolder,
        *,
        durable: bool = True,
        database_url: str = "",
        owner_url: str = "",
        redis_url: str = "",
    ) -> None:
        self.folder = folder
        self.durable = durable
        self.database_url = database_url
        self.owner_url = owner_url or database_url  # for migrations
        self.redis_url = redis_url
        self.queue_redis_url = os.environ.get("QUEUE_REDIS_URL", "")  # beside a given cluster
        self.sockets: Path | None = None
        self.children: list[Child] = []

    @classmethod
    def from_environment(cls, folder: DataFolder) -> "Servers":
        """Return the servers at the URLs in the environment; those without one are embedded."""
        names = ("DATABASE_URL", "DATABASE_OWNER_URL", "REDIS_URL")
        database, owner, redis = (os.environ.get(name, "") for name in names)
        return cls(folder, database_url=database, owner_url=owner, redis_url=redis)

    def start(self) -> None:
        """Start the servers that are not given, and wait until they serve; raise StartupError."""
        if self.database_url and self.redis_url:
            return
        self.sockets = _socket_folder()
        try:
            if not self.redis_url:
                self._start_valkey(self.sockets)
            if not self.database_url:
                self._start_postgres(self.sockets)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop them, the database last, and remove their sockets."""
        for child in self.children:
            child.stop(timeout=60)
        self.children.clear()
        if self.sockets:
            shutil.rmtree(self.sockets, ignore_errors=True)

    @property
    def queue_url(self) -> str:
        """Return the URL of the server for jobs and limits."""
        return self.queue_redis_url or self.redis_url

    def urls(self) -> dict[str, str]:
        """Return the environment of processes that connect as the portal's own role."""
        return {
            "DATABASE_URL": self.database_url,
            "REDIS_URL": self.redis_url,
            "QUEUE_REDIS_URL": self.queue_redis_url,
        }

    def all_urls(self) -> dict[str, str]:
        """Return the environment of processes that may change tables, such as migrations."""
        return {**self.urls(), "DATABASE_OWNER_URL": self.owner_url}

    def _start_valkey(self, sockets: Path) -> None:
        child = embedded_valkey.child(
            self.folder.path / "valkey",
            sockets,
            self.folder.log("valkey"),
            durable=self.durable,
            lock=self.folder.lock,
        )
        self._launch(child, lambda: embedded_valkey.answers(sockets))
        self.redis_url = embedded_valkey.url(sockets)

    def _start_postgres(self, sockets: Path) -> None:
        data, password = self.folder.path / "postgres", "database-password"
        embedded_postgres.refuse_old(data, self.folder.path / password)
        access = Access(
            sockets, self.folder.secret("database-owner-password"), self.folder.secret(password)
        )
        child = embedded_postgres.child(
            data,
            access,
            self.folder.log("postgres"),
            durable=self.durable,
            lock=self.folder.lock,
        )
        self._launch(child, lambda: embedded_postgres.answers(sockets))
        self.database_url, self.owner_url = access.url, access.owner_url

    def _launch(self, child: Child, answers: Callable[[], bool]) -> None:
        self.children.append(child)
        child.start()
        deadline = time.monotonic() + START_TIMEOUT
        while not answers():
            if not child.alive or time.monotonic() > deadline:
                raise StartupError(f"{child.name} did not start:\n{child.last_output()}")
            time.sleep(0.02)


def _socket_folder() -> Path:
    """Return a private folder for sockets.

    Its path is short enough for a unix socket, and its parents let other accounts pass.
    """
    for parent in (tempfile.gettempdir(), "/tmp"):  # noqa: S108  the folder in it is ours alone
        made = Path(tempfile.mkdtemp(prefix="fairseat-", dir=parent))
        fits = len(os.fsencode(made)) <= LONGEST_SOCKET_FOLDER
        if fits and (not service_account.needed() or service_account.passable(made.parent)):
            return made
        made.rmdir()
    raise StartupError(
        f"No folder for sockets: {made.parent} is closed. Set TMPDIR to another one."
    )
