"""The ledger of a term made anew from the event log, behind a fence, where it has lost something.

Nothing is decided meanwhile. Whoever is killed leaves the fence up: it is begun again.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import func, select, text

from portal.backend import backend
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.moments import moment
from portal.core.queue import enqueue
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder import idempotency, journal
from portal.recorder.consistency import fence, ledger_keys
from portal.recorder.consistency.audit import audit_term, catch_up
from portal.recorder.consistency.fence import Command, Held
from portal.recorder.consistency.ledger_image import APART, BY_NAME, Image, split
from portal.recorder.consistency.repair import refuse_damaged
from portal.recorder.event_log import ProgressCallback, no_progress, read_events, replay
from portal.recorder.events import Event
from portal.recorder.journal import JournalGap
from portal.recorder.projections import UnknownEvent

AT_ONCE = 2000  # keys a round trip
# What the log doesn't know of and what may stay: a waiting room has its own order of who came when.
KEPT = APART - {"request", "woken", "warmup"}
LOCK = 6_001  # of this, among PostgreSQL's advisory locks
PROMISED = "record", "promote", "maintain", "notify", "reconcile"
WHY = "it is being restored from the event log"


class Unrecorded(Exception):  # noqa: N818  a state of the world, not a mistake
    """The journal goes on where the record ends, but could not be recorded: it must not be lost."""


class Busy(Exception):  # noqa: N818
    """Somebody else restores the term just now."""


@dataclass(frozen=True)
class Plan:
    """What a restored ledger holds, by kind, and decisions that it alone knows and will forget."""

    seq: int
    holds: dict[str, int]
    lost: list[Event]


@dataclass(frozen=True)
class Restored:
    """Decisions that were forgotten, and what an audit found afterwards."""

    lost: list[Event]
    report: dict[str, Any]


def plan(term: int, tell: ProgressCallback = no_progress) -> Plan:
    """What `restore` would do, but that it records what can be recorded. Raises as that does."""
    _record(term)
    image = _image(term, tell)
    return Plan(checkpoint(term), _sizes(term, image), _lost(term))


def restore(term: int, tell: ProgressCallback = no_progress) -> Restored:
    """Restore it, and compare it with the log; the fence stays up where something differs.

    Raises LogDamaged, Unrecorded or Busy before anything is changed. Raises Changed where another
    primary has come to answer meanwhile, or the term was changed behind the fence, which stays up.
    """
    with _alone(term):
        before = fence.why(term)
        held = fence.hold(term, WHY)
        try:
            _record(term)
            image = _image(term, tell)
        except BaseException:
            held.let_go(before)
            raise
        lost, last = _lost(term), image.last.seq if image.last else 0
        held.confirm()
        _wipe(held)
        _write(held, image, tell)
        held.write(*journal.restart_commands(term, image.last))
        report = audit_term(term, tell)
        if report["clean"]:
            held.let_go(seq=last)
            enqueue(term, PROMISED)
        return Restored(lost, report)


@contextmanager
def _alone(term: int) -> Iterator[None]:
    """A block in which nobody else restores the term; whoever is killed lets go of it."""
    with transaction() as session:
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        if not session.scalar(select(func.pg_try_advisory_xact_lock(LOCK, term))):
            raise Busy
        yield


def _record(term: int) -> None:
    """Record all of a journal that goes on where the record ends."""
    with suppress(JournalGap):  # else it is what will be forgotten
        try:
            if not catch_up(term):
                raise Unrecorded("PostgreSQL is too slow: try again")
        except (UnknownEvent, ValueError) as error:
            raise Unrecorded(str(error)) from error


def _image(term: int, tell: ProgressCallback) -> Image:
    image = Image()
    replay(term, image, checkpoint(term), tell)
    refuse_damaged(image)
    return image


def _lost(term: int) -> list[Event]:
    """What the journal tells otherwise than the log, or beyond it."""
    facts = journal.read_all(backend().redis, term)
    if not facts:
        return []
    with transaction() as session:
        known = {
            fact.seq: fact for fact in read_events(session, term, facts[0].seq - 1, facts[-1].seq)
        }
    return [fact for fact in facts if known.get(fact.seq) != fact]


def _sizes(term: int, image: Image) -> dict[str, int]:
    states = Counter(row["state"] for row in image.places.values())
    with transaction() as session:
        answers = sum(1 for _ in _answers(term, session))
    return {
        "windows": len(image.windows),
        "sections": len(image.seats),
        "pools": len(image.pool_versions),
        "reserves": sum(len(row["reserves"]) for row in image.seats.values()),
        "seats": sum(row["enrolled"] for row in image.seats.values()),
        "places in line": states["waiting"] + states["passed"],
        "of them passed over": states["passed"],
        "students who dropped": len(image.drops),
        "answers under request keys": answers,
    }


def _wipe(held: Held) -> None:
    """Let go of what the ledger holds."""
    redis, at = backend().redis, f"{prefix(held.term)}:"
    with translate_errors():
        found = redis.scan_iter(match=f"{at}*", count=AT_ONCE)
        for names in ledger_keys.batches(map(bytes.decode, found), AT_ONCE):
            gone = [name for name in names if split(name[len(at) :])[0] not in KEPT]
            if gone:
                held.write(["UNLINK", *gone])


def _write(held: Held, image: Image, tell: ProgressCallback) -> None:
    at, done = f"{prefix(held.term)}:", 0
    found = (
        ledger_keys.write_commands(at + key, BY_NAME[split(key)[0]].shape, entries)
        for key, entries in image.keys().items()
    )
    for step in ledger_keys.command_steps(chain.from_iterable(found)):
        held.write(*step)
        done += len(step)
        tell("writing", done, done)
    with transaction() as session:
        for step in ledger_keys.command_steps(_said(held.term, session)):
            held.write(*step)


def _said(term: int, session: Any) -> Iterator[Command]:
    for key, kept, left in _answers(term, session):
        yield ["SET", idempotency.name(term, *key), kept, "PX", str(left)]


def _answers(term: int, session: Any) -> Iterator[tuple[idempotency.Key, str, int]]:
    return idempotency.known(session, term, moment(backend().ledger.now()))
