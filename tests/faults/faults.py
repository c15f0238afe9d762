"""What is done to the portal: each gives how it is undone."""

import signal
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from threading import Event, Thread

import psutil

from portal import stores
from portal.embedded import sentinels
from portal.embedded.postgres import DATABASE
from portal.sentinel import parsed, pool
from tests.faults import halves, looks
from tests.faults.client import Rush
from tests.faults.trial import Trial

Undo = Callable[[], None]
Look = Callable[[Trial, Rush], Iterable[str]]  # what is wrong while it lasts
CLUSTER, UP = "cluster", "up"


@dataclass(frozen=True)
class Fault:
    """One row of the table: what is done, for how many seconds, and to which portal."""

    name: str
    do: Callable[[Trial], Undo]
    lasts: float = 2.0
    on: tuple[str, ...] = (CLUSTER,)
    disks: bool = False  # whether each server of the ledger needs a disk of its own
    look: Look = lambda _trial, _rush: ()


def nothing() -> None:
    """For what the portal itself mends."""


def kill(name: str) -> Callable[[Trial], Undo]:
    """Kill -9 of all processes so named, and of those that they have started."""
    return lambda trial: _send(trial, name, signal.SIGKILL)


def restart(name: str, how: signal.Signals = signal.SIGTERM) -> Callable[[Trial], Undo]:
    """Ask one to end; it is started again."""
    return lambda trial: _send(trial, name, how)


def freeze(name: str) -> Callable[[Trial], Undo]:
    """Stop them, as a machine that hangs: they answer nobody and close nothing."""

    def do(trial: Trial) -> Undo:
        frozen = trial.family(_named(trial, name))
        _signal(frozen, signal.SIGSTOP)
        return lambda: _signal(frozen, signal.SIGCONT)

    return do


def cut_off(trial: Trial) -> Undo:
    """The primary runs, but nobody can reach it and it can reach nobody."""
    return _cut_off(_topology(trial), _primary(trial))


def cut_in_halves(trial: Trial) -> Undo:
    """The primary, a replica and their sentinels reach each other, but few others."""
    return halves.cut(trial, _topology(trial), _primary(trial))


def no_ledger(trial: Trial) -> Undo:
    """Nobody can reach any server of the ledger."""
    at, held = _topology(trial), ExitStack()
    for number in range(1, len(at.servers) + 1):
        held.callback(_cut_off(at, number))
    return held.close


def _cut_off(at: sentinels.Topology, number: int) -> Undo:
    held = ExitStack()
    redis = held.enter_context(stores.commands(at.server_url(number), size=1))
    redis.ping()
    redis.config_set("port", 0)
    for kind in ("replica", "pubsub", "normal"):
        with suppress(Exception):  # whom nobody is connected as
            redis.client_kill_filter(_type=kind, skipme=True)

    def undo() -> None:
        redis.config_set("port", at.servers[number - 1])
        held.close()

    return undo


def no_postgresql(trial: Trial) -> Undo:
    """It runs, but nobody can reach it, and whoever was connected is no more."""
    [door] = Path(trial.run.sockets).glob(".s.PGSQL.*[0-9]")
    door.rename(door.with_name("away"))
    clients = [each for each in trial.family("postgres") if f"{DATABASE} [local]" in _line(each)]
    _signal(clients, signal.SIGTERM)
    return lambda: door.with_name("away").rename(door) and None


def _line(process: psutil.Process) -> str:
    with suppress(psutil.NoSuchProcess):
        return " ".join(process.cmdline())
    return ""


def slow(trial: Trial) -> Undo:
    """Every process stands still for nine tenths of the time, all at once."""
    ended = Event()

    def pulse() -> None:
        family = trial.family("")
        for how, seconds in cycle([(signal.SIGSTOP, 0.18), (signal.SIGCONT, 0.02)]):
            _signal(family, how)
            if ended.wait(seconds):
                break
        _signal(family, signal.SIGCONT)

    thread = Thread(target=pulse)
    thread.start()

    def undo() -> None:
        ended.set()
        thread.join()

    return undo


def no_mail(trial: Trial) -> Undo:
    """The mail server goes away, whoever is talking to it."""
    trial.postman.close()
    return trial.postman.open


def full_disk(trial: Trial) -> Undo:
    """The disk of the ledger's primary has no room left."""
    folder = trial.folder / "ledger" / f"valkey-{_primary(trial)}"
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    return lambda: filler.unlink(missing_ok=True)


def _send(trial: Trial, name: str, how: signal.Signals) -> Undo:
    whom = trial.family(_named(trial, name))
    _signal(whom, how) if how == signal.SIGKILL else _signal(whom[:1], how)
    return nothing


def _named(trial: Trial, name: str) -> str:
    if name != "primary":
        return name
    return f"valkey-{_primary(trial)}" if trial.clustered else "valkey"


def _signal(whom: list[psutil.Process], how: signal.Signals) -> None:
    for process in whom:
        with suppress(psutil.NoSuchProcess):
            process.send_signal(how)


def _topology(trial: Trial) -> sentinels.Topology:
    password = (trial.folder / "ledger-password").read_text()
    return sentinels.topology(trial.folder / "ledger", password)


def _primary(trial: Trial) -> int:
    at = _topology(trial)
    _, port = pool(parsed(at.url)).get_master_address()
    return at.servers.index(port) + 1


BOTH = (CLUSTER, UP)
FAULTS = (
    Fault("web node: kill -9", kill("web-1")),
    Fault("web node: frozen", freeze("web-1"), 8),
    Fault("web node: restarted", restart("web-1")),
    Fault("both web nodes: kill -9", kill("web"), on=BOTH),
    Fault("balancer: kill -9", kill("haproxy")),
    Fault("recorders: kill -9", kill("record"), on=BOTH),
    Fault("recorders: frozen", freeze("record"), 8),
    Fault("promoters: kill -9", kill("promote")),
    Fault("promoters: frozen", freeze("promote"), 8),
    Fault("maintenance: kill -9", kill("maintain")),
    Fault("notifiers: kill -9", kill("notify")),
    Fault("errands: kill -9", kill("errands")),
    Fault("clocks: kill -9", kill("clock")),
    Fault("clocks: frozen", freeze("clock"), 8),
    Fault("ledger’s primary: kill -9", kill("primary"), on=BOTH),
    Fault("ledger’s primary: frozen", freeze("primary"), 12),
    Fault("ledger’s primary: cut off", cut_off, 12),
    Fault("ledger’s primary and one replica: cut off", cut_in_halves, 15, look=halves.goes_on),
    Fault("ledger’s primary: restarted", restart("primary")),
    Fault("ledger’s disk: full", full_disk, 12, disks=True),
    Fault("a sentinel: kill -9", kill("sentinel-1")),
    Fault("a sentinel: frozen", freeze("sentinel-2"), 8),
    Fault("PostgreSQL: kill -9", kill("postgres"), on=BOTH),
    Fault("PostgreSQL: frozen", freeze("postgres"), 12),
    Fault("PostgreSQL: restarted", restart("postgres", signal.SIGINT)),
    Fault("PostgreSQL: away for a minute", no_postgresql, 60, look=looks.claims_go_on),
    Fault("the ledger: away for a minute", no_ledger, 60, look=looks.pages_are_read),
    Fault("all processes at once: kill -9", kill("")),
    Fault("mail server: away", no_mail, 5),
    Fault("everything: ten times slower", slow, 8),
)
