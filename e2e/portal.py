"""One whole portal for the stories, started as a user would start it."""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from sqlalchemy import func, select, update

from portal import backend, subscribers
from portal.backend import Backend
from portal.catalog.models import Term
from portal.catalog.term_catalog import terms_named
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.recorder.consistency.audit import audit_term
from portal.runtime.child_process import Child
from portal.runtime.listener import not_ready
from tests.applications.clamd import clamd
from tests.ports import free_port

TIMEOUT = 90.0
AUDITED = 120.0  # at the end, the last events of all stories are to be recorded first
FEW = "record=1-2@50 background=1-2@10"  # each process takes a second of a core to start
COMMAND = [sys.executable, "-m", "portal.runtime.cli"]


@dataclass
class Running:
    """A portal that answers at `address`."""

    address: str
    folder: Path
    child: Child
    backend: Backend
    over: list[int] = field(default_factory=list)  # terms of stories that are over

    @contextmanager
    def story(self) -> Iterator[None]:
        """Delete the terms that the block makes, as the scheduler and pages look at each term."""
        with transaction() as session:
            before = session.scalar(select(func.max(Term.id))) or 0
        yield
        new = Term.id > before, Term.deleted_at.is_(None)
        with transaction() as session:
            away = update(Term).where(*new).values(deleted_at=func.now()).returning(Term.id)
            self.over += session.scalars(away)

    def audit(self, name: str = "") -> None:
        """See that ledger, log and read models tell the same, of the term so named or of all."""
        for term, _ in terms_named(name):
            _audit(term)

    def audit_stories(self) -> None:
        """See the same of the terms of all stories that are over."""
        for term in self.over:
            _audit(term)

    def wait(self) -> None:
        """Wait until everything of it is there."""
        _wait(self.address, self.child)

    def kill_web(self) -> None:
        """Kill the web server and its processes, as a crash would."""
        assert self.child.process
        for each in psutil.Process(self.child.process.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # a process that had work to do may end meanwhile
                if "gunicorn" in " ".join(each.cmdline()):
                    each.kill()


@contextmanager
def running(
    folder: Path, *, demo: bool = False, settings: Mapping[str, str] | None = None
) -> Iterator[Running]:
    """`fairseat up` in a data folder of its own, until the block ends."""
    env = {
        "FAIRSEAT_VAR": str(folder),
        "FAIRSEAT_DEMO": "1" if demo else "0",
        "HOST": "127.0.0.1",
        "PORT": str(free_port()),
        "WEB_CONCURRENCY": "2",
        "FAIRSEAT_CAPTCHA_COST": "2000",
        "FAIRSEAT_PAYMENTS": "test",
        "FAIRSEAT_WORKERS": FEW,
        "DATABASE_URL": "",
        "REDIS_URL": "",
        **(settings or {}),
    }
    with clamd(folder.parent) as env["FAIRSEAT_CLAMD"]:
        yield from _started(folder, env)


def _started(folder: Path, env: dict[str, str]) -> Iterator[Running]:
    child = Child("portal", [*COMMAND, "up"], folder.parent / f"{folder.name}.log", env)
    child.start()
    try:
        address = f"http://127.0.0.1:{env['PORT']}"
        _wait(address, child)
        run = json.loads((folder / "run.json").read_text())
        settings = Settings(run["database_url"], run["redis_url"], secret_key="unused")
        subscribers.connect()
        yield Running(address, folder, child, backend.connect(settings))
    finally:
        child.stop(timeout=30)


def _audit(term: int) -> None:
    """See that the audit of a term finds no differences once all of it is recorded."""
    deadline = time.monotonic() + AUDITED
    while not (report := audit_term(term))["clean"]:
        assert time.monotonic() < deadline, report
        time.sleep(0.1)


def _wait(address: str, child: Child) -> None:
    deadline = time.monotonic() + TIMEOUT
    while missing := not_ready(address):
        assert child.alive, child.last_output(40)
        assert time.monotonic() < deadline, missing
        time.sleep(0.2)
