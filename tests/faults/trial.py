"""A whole real portal on throwaway data, with a small semester for each trial."""

import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
from redis import RedisError
from sqlalchemy import func, select, update

from portal import backend as connections
from portal import subscribers
from portal.backend import backend
from portal.catalog.models import Term
from portal.core import flags
from portal.core.db import transaction
from portal.core.settings import Settings
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.models import OutboxEntry
from portal.people.models import Account
from portal.recorder.event_log import read_events
from portal.recorder.events import Event
from portal.recorder.journal import last_seq
from portal.runtime import embedded_valkey
from portal.runtime.data_folder import DataFolder, Run
from portal.runtime.listener import not_ready
from portal.windows import readiness as warmth
from portal.windows.readiness import readiness
from tests import cast
from tests.applications.stripe_api import SECRET, stripe_api
from tests.applications.stripe_api import Account as Provider
from tests.faults.applicants import Applicant, Applicants
from tests.faults.checker import Pair
from tests.faults.client import Rush, Student
from tests.faults.mailserver import MailServer, a_mail_server
from tests.ports import free_port
from tests.recorder.processes import recorded
from tests.runtime.test_up import Up
from tests.valkey_cluster import ValkeyCluster

Disks = Callable[[Path], AbstractContextManager[None]]
SECTIONS, SEATS, WAITLIST = 6, 2, 8
APPLICANTS = 6  # of each kind of application
TIMEOUT = 120.0
HEARD = 2 * flags.EVERY  # seconds; read here, before tests keep their own process from reading
MAIL = "mail server"  # which is not of the portal


def until(holds: Callable[[], bool], why: str, patience: float = TIMEOUT) -> float:
    """Wait for something, and give the seconds that it took."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > patience:
            raise TimeoutError(why)
        time.sleep(0.1)
    return time.monotonic() - began


@dataclass
class Trial:
    """The portal, its processes by name, and its students."""

    up: Up
    mail: MailServer
    provider: Provider  # of payments
    students: list[Student] = field(default_factory=list)
    deciders: list[Student] = field(default_factory=list)  # admins who decide applications
    terms: int = 0
    mails: int = 0  # of the outbox when the rush began
    shards: ValkeyCluster | None = None  # of its ledger
    term: int = 0  # the latest one

    @property
    def clustered(self) -> bool:
        """Return whether its ledger has replicas, and its web several nodes."""
        return self.up.what == "cluster"

    @property
    def folder(self) -> Path:
        """Where its data is."""
        return self.up.var / "cluster" if self.clustered else self.up.var

    @property
    def run(self) -> Run:
        """What it has announced to other terminals."""
        found = DataFolder(self.folder).own()
        assert found
        return found

    def heads(self, name: str) -> list[psutil.Process]:
        """The processes of the portal whose name begins so, or the mail server."""
        if name == MAIL:
            return [psutil.Process(self.mail.process.pid)]
        pids = [
            pid for known, pid in DataFolder(self.folder).pids().items() if known.startswith(name)
        ]
        return [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]

    def family(self, name: str) -> list[psutil.Process]:
        """The same, each with those that it has started."""
        found = self.heads(name)
        return [each for one in found for each in (one, *one.children(recursive=True))]

    def ready(self) -> bool:
        """Return whether it says that nothing is missing."""
        return not not_ready(self.up.address)

    def a_rush(self) -> Rush:
        """A new semester whose window is open, with few seats, for the same students."""
        self.terms += 1
        term = cast.a_term(f"Trial {self.terms}", credit_limit=60, drops_per_day=1000)
        self.term = term.id
        sections = [
            cast.a_section(
                cast.a_course(f"TRY-{self.terms}{n:02}"), term, capacity=SEATS, waitlist=WAITLIST
            )
            for n in range(SECTIONS)
        ]
        wanted = cast.a_section(cast.a_course(f"ADD-{self.terms}"), term, capacity=APPLICANTS)
        self.mails = max(self.outbox(), default=0)
        self.mail.forget()
        self.provider.repeated.clear()
        window = self._open(term)
        for student in self.students:
            until(partial(student.enter, window), "the waiting room admits no one")
        return Rush(term.id, [section.id for section in sections], self.students, wanted.id)

    def applicants(self, rush: Rush) -> Applicants:
        """People who apply in a rush: first students for a late add, then visiting students."""
        names = [f"{self.terms}x{number}" for number in range(APPLICANTS)]
        late = [Applicant(_a_student(self, f"late{name}"), rush.wanted) for name in names]
        visiting = [
            Applicant(_a_visitor(self, f"visitor{name}"), provider=self.provider) for name in names
        ]
        return Applicants(rush.term, [*late, *visiting])

    def _open(self, term: Term) -> int:
        """Open its window as usual: it is in the ledger first, and web processes read ahead."""
        window = cast.a_coming_window(term)
        until(lambda: _warm(term.id), "the web processes don't read ahead")
        cast.open_soon(term, window, 1)
        until(lambda: _opened(term.id), "the window does not open")
        return window.id

    def settled(self, term: int) -> bool:
        """Return whether all is recorded, and no free seat waits for a student of a waitlist."""
        try:
            redis = backend().ledger.redis(term)
            return recorded(term) == last_seq(term) and not redis.scard(f"{{t:{term}}}:vacant")
        except (RedisError, LedgerUnavailable):
            return False

    def outbox(self) -> list[int]:
        """The mails that were written since the rush began."""
        with transaction() as session:
            return list(session.scalars(select(OutboxEntry.id).where(OutboxEntry.id > self.mails)))

    def mailed(self) -> bool:
        """Return whether every mail that was written has been sent."""
        with transaction() as session:
            unsent = select(func.count()).where(OutboxEntry.sent_at.is_(None))
            return not session.scalar(unsent)


def _opened(term: int) -> bool:
    [window] = backend().ledger.windows(term)
    return window.opens <= backend().ledger.now()


def _warm(term: int) -> bool:
    found = readiness(term)
    wanted = found.preload if found else 0
    known = warmth.processes()
    return bool(wanted and known) and all(each.request >= wanted for each in known)


def log_of(term: int) -> list[Event]:
    """The events of a term."""
    with transaction() as session:
        return list(read_events(session, term, 0, recorded(term)))


def selections(term: int, students: Iterable[Student]) -> tuple[set[Pair], set[Pair]]:
    """Return the seats and waitlist positions of students in the ledger."""
    held: set[Pair] = set()
    waiting: set[Pair] = set()
    for student in students:
        mine = backend().ledger.registrations(term, student.number)
        held |= {(each.section, student.number) for each in mine.enrolled}
        waiting |= {(each.section, student.number) for each in mine.waiting}
    return held, waiting


@contextmanager
def running(what: str, students: int, disks: Disks, keep: Path | None = None) -> Iterator[Trial]:
    """`fairseat up` or `make cluster`, and this process connected to its servers.

    With "shards", it is `fairseat up` with a ledger in a Valkey Cluster. Its logs are copied to
    `keep` at the end.
    """
    var = Path(tempfile.mkdtemp(prefix="fairseat-faults-"))
    given = dict(os.environ)
    with (
        _shards(var) if what == "shards" else nullcontext((None, {})) as (shards, urls),
        a_mail_server(var / "mail", free_port()) as mail,
        stripe_api() as provider,
    ):
        provider.pages, provider.loses = f"{provider.url}/pay", True
        os.environ |= {
            "FAIRSEAT_GATE": "1",
            "FAIRSEAT_ROOM": "60000/10000",
            "FAIRSEAT_CAPTCHA": "off",
            "FAIRSEAT_SMTP": f"smtp://127.0.0.1:{mail.port}",
            "FAIRSEAT_REMINDERS": "",
            "FAIRSEAT_PAYMENTS": "stripe",
            "FAIRSEAT_STRIPE_KEY": "sk_test_x",
            "FAIRSEAT_STRIPE_WEBHOOK_SECRET": SECRET,
            "FAIRSEAT_STRIPE_URL": provider.url,
            "FAIRSEAT_STRIPE_CHECKOUT": provider.url,
        }
        command = "up" if shards else what
        up = Up(var, free_port(), command, workers="", given=urls, said=var / "said.log")
        trial = Trial(up, mail, provider, shards=shards)
        try:
            with disks(trial.folder), _started(trial):
                _without_limits()
                trial.students = [_a_student(trial, f"trial{number}") for number in range(students)]
                trial.deciders = [_an_admin(trial, f"decider{number}") for number in range(2)]
                yield trial
        finally:
            if keep:
                shutil.copytree(trial.folder / "log", keep / "log", dirs_exist_ok=True)
            shutil.rmtree(var, ignore_errors=True)
            os.environ.clear()
            os.environ |= given


@contextmanager
def _shards(var: Path) -> Iterator[tuple[ValkeyCluster, dict[str, str]]]:
    """A Valkey Cluster and a server for jobs, and the settings that lead to them."""
    shards = ValkeyCluster(var / "shards", durable=True)
    sockets = Path(tempfile.mkdtemp(prefix="fairseat-"))
    queue = embedded_valkey.child(var / "queue", sockets, var / "queue.log", durable=True, lock=0)
    queue.start()
    until(lambda: embedded_valkey.answers(sockets), "the server for jobs does not start")
    try:
        yield shards, {"REDIS_URL": shards.url, "QUEUE_REDIS_URL": embedded_valkey.url(sockets)}
    finally:
        queue.kill()
        shards.end()
        shutil.rmtree(sockets, ignore_errors=True)


@contextmanager
def _started(trial: Trial) -> Iterator[None]:
    try:
        trial.up.start()
        _connect(trial)
        yield
    finally:
        trial.up.end()


def _connect(trial: Trial) -> None:
    run = trial.run
    os.environ |= {"DATABASE_URL": run.database_url, "REDIS_URL": run.redis_url}
    os.environ |= {"DATABASE_OWNER_URL": run.owner_url, "QUEUE_REDIS_URL": run.queue_redis_url}
    os.environ["SECRET_KEY"] = "unused: nothing is signed here"
    subscribers.connect()
    connections.connect(Settings.read())


def _without_limits() -> None:
    """Six students ask for what hundreds would; no one else may ask for so much."""
    by = cast.an_account("max").id
    with transaction() as session:
        flags.switch(
            session, flags.Switching("rate_limits", on=False, version=0, reason="a trial"), by
        )
    time.sleep(HEARD)  # every process has read it


def _a_visitor(trial: Trial, name: str) -> Student:
    cast.an_account(name, email=f"{name}@u.example")
    return _logged_in(trial, name)


def _an_admin(trial: Trial, name: str) -> Student:
    cast.an_account(name, is_admin=True)
    return _logged_in(trial, name)


def _a_student(trial: Trial, name: str) -> Student:
    made = cast.a_student(name)
    with transaction() as session:
        mine = Account.id == made.account_id
        session.execute(update(Account).where(mine).values(email=f"{name}@u.example"))
    return _logged_in(trial, name)


def _logged_in(trial: Trial, name: str) -> Student:
    found = Student(trial.up.address, name)
    found.log_in()
    return found
