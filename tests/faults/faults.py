"""What is done to the portal: each gives how it is undone."""

import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from threading import Event, Thread

from tests.faults import outage_checks, split_network
from tests.faults.client import Rush
from tests.faults.mailserver import BEFORE, BEHIND
from tests.faults.partitions import (
    cut_from_ledger,
    cut_from_postgresql,
    cut_off,
    no_ledger,
    no_postgresql,
)
from tests.faults.processes import named, primary, send
from tests.faults.trial import MAIL, Trial, until

Undo = Callable[[], None]
Look = Callable[[Trial, Rush], Iterable[str]]  # what is wrong while it lasts
CLUSTER, UP, SHARDS = "cluster", "up", "shards"


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

    def do(trial: Trial) -> Undo:
        send(trial.family(named(trial, name)), signal.SIGKILL)
        return nothing

    return do


def restart(name: str, how: signal.Signals = signal.SIGTERM) -> Callable[[Trial], Undo]:
    """Ask all processes so named to end; they are started again."""

    def do(trial: Trial) -> Undo:
        send(trial.heads(named(trial, name)), how)
        return nothing

    return do


def freeze(name: str) -> Callable[[Trial], Undo]:
    """Stop them, as a machine that hangs: they give no answer and close nothing."""

    def do(trial: Trial) -> Undo:
        frozen = trial.family(named(trial, name))
        send(frozen, signal.SIGSTOP)
        return lambda: send(frozen, signal.SIGCONT)

    return do


def slow(trial: Trial) -> Undo:
    """Every process stands still for nine tenths of the time, all at once."""
    ended = Event()

    def pulse() -> None:
        family = trial.family("")
        for how, seconds in cycle([(signal.SIGSTOP, 0.18), (signal.SIGCONT, 0.02)]):
            send(family, how)
            if ended.wait(seconds):
                break
        send(family, signal.SIGCONT)

    thread = Thread(target=pulse)
    thread.start()

    def undo() -> None:
        ended.set()
        thread.join()

    return undo


def no_mail(trial: Trial) -> Undo:
    """The mail server goes away, whoever is talking to it."""
    trial.mail.close()
    return trial.mail.open


def kill_mail(trial: Trial) -> Undo:
    """Kill -9 of the mail server with a mail in hand: one not kept yet, then one that it has."""
    for moment in (BEFORE, BEHIND):
        trial.mail.halt(moment)
        until(trial.mail.halted, "no mail comes")
        trial.mail.close()
        trial.mail.open()
    return nothing


def full_disk(trial: Trial) -> Undo:
    """The disk of the ledger's primary has no room left."""
    folder = trial.folder / "ledger" / f"valkey-{primary(trial)}"
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))
    return lambda: filler.unlink(missing_ok=True)


def kill_shard(trial: Trial) -> Undo:
    """Kill -9 of the primary that has the semester; it comes back once it has been replaced."""
    shards = trial.shards
    assert shards
    number = shards.primary_of(trial.term)
    shards.send(signal.SIGKILL, number)
    until(lambda: shards.replaced(trial.term, number), "nobody is promoted")
    return shards.servers[number].start


def freeze_shard(trial: Trial) -> Undo:
    """Stop the primary that has the semester."""
    shards = trial.shards
    assert shards
    number = shards.primary_of(trial.term)
    shards.send(signal.SIGSTOP, number)
    return lambda: shards.send(signal.SIGCONT, number)


def move_term(trial: Trial) -> Undo:
    """Move the semester to another primary while it is claimed in."""
    shards = trial.shards
    assert shards
    shards.move(trial.term, shards.another_primary(shards.primary_of(trial.term)))
    return nothing


BOTH = (CLUSTER, UP)
FAULTS = (
    Fault("web node: kill -9", kill("web-1")),
    Fault("web node: frozen", freeze("web-1"), 8),
    Fault("web node: restarted", restart("web-1")),
    Fault("web node: cut off from the ledger", cut_from_ledger("web-1"), 12),
    Fault("web node: cut off from PostgreSQL", cut_from_postgresql("web-1"), 12),
    Fault("both web nodes: kill -9", kill("web"), on=BOTH),
    Fault("balancer: kill -9", kill("haproxy")),
    Fault("recorders: kill -9", kill("record"), on=BOTH),
    Fault("recorders: frozen", freeze("record"), 8),
    Fault("recorders: restarted", restart("record")),
    Fault(
        "recorders: cut off from the ledger",
        cut_from_ledger("record"),
        12,
        look=outage_checks.nothing_is_recorded,
    ),
    Fault("promoters: kill -9", kill("promote")),
    Fault("promoters: frozen", freeze("promote"), 8),
    Fault("promoters: restarted", restart("promote")),
    Fault("maintenance: kill -9", kill("maintain")),
    Fault("maintenance: frozen", freeze("maintain"), 8),
    Fault("maintenance: restarted", restart("maintain")),
    Fault("notifiers: kill -9", kill("notify")),
    Fault("notifiers: frozen", freeze("notify"), 8),
    Fault("notifiers: restarted", restart("notify")),
    Fault("document checks: kill -9", kill("documents")),
    Fault("document checks: frozen", freeze("documents"), 8),
    Fault("charges: kill -9", kill("charges")),
    Fault("charges: frozen", freeze("charges"), 8),
    Fault("background: kill -9", kill("background")),
    Fault("background: frozen", freeze("background"), 8),
    Fault("background: restarted", restart("background")),
    Fault("schedulers: kill -9", kill("scheduler")),
    Fault("schedulers: frozen", freeze("scheduler"), 8),
    Fault("schedulers: restarted", restart("scheduler")),
    Fault("ledger’s primary: kill -9", kill("primary"), on=BOTH),
    Fault("ledger’s primary: frozen", freeze("primary"), 12),
    Fault("ledger’s primary: cut off", cut_off, 12),
    Fault(
        "ledger’s primary and one replica: cut off",
        split_network.cut,
        15,
        look=split_network.goes_on,
    ),
    Fault("ledger’s primary: restarted", restart("primary")),
    Fault("ledger’s disk: full", full_disk, 12, disks=True),
    Fault("a ledger’s replica: kill -9", kill("replica")),
    Fault("a ledger’s replica: frozen", freeze("replica"), 12),
    Fault("a ledger’s replica: cut off", cut_from_ledger("replica"), 12),
    Fault("a sentinel: kill -9", kill("sentinel-1")),
    Fault("a sentinel: frozen", freeze("sentinel-2"), 8),
    Fault("a sentinel: restarted", restart("sentinel-3")),
    Fault("a sentinel: cut off from the ledger", cut_from_ledger("sentinel-2"), 12),
    Fault("a cluster’s primary: kill -9", kill_shard, on=(SHARDS,)),
    Fault("a cluster’s primary: frozen", freeze_shard, 12, on=(SHARDS,)),
    Fault("a cluster’s term: moved to another primary", move_term, on=(SHARDS,)),
    Fault("PostgreSQL: kill -9", kill("postgres"), on=BOTH),
    Fault("PostgreSQL: frozen", freeze("postgres"), 12),
    Fault("PostgreSQL: restarted", restart("postgres", signal.SIGINT)),
    Fault("PostgreSQL: away for a minute", no_postgresql, 60, look=outage_checks.claims_go_on),
    Fault("the ledger: away for a minute", no_ledger, 60, look=outage_checks.pages_are_read),
    Fault("all processes at once: kill -9", kill("")),
    Fault("mail server: away", no_mail, 5),
    Fault("mail server: kill -9 in the midst of a mail", kill_mail),
    Fault("mail server: frozen", freeze(MAIL), 15),
    Fault("everything: ten times slower", slow, 8),
)
