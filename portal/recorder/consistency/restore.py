"""Restore: the ledger of a term made again from the event log, after it lost data.

A fence blocks decisions meanwhile. If the process dies, the fence stays up and the restore starts
again.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.checkpoints import checkpoint
from portal.core.db import transaction
from portal.core.moments import moment
from portal.core.queue import enqueue
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder import idempotency, journal
from portal.recorder.consistency import fence, ledger_keys, room_image
from portal.recorder.consistency.audit import audit_term
from portal.recorder.consistency.fence import Command, OwnFence
from portal.recorder.consistency.ledger_image import BY_NAME, NOT_IN_LOG, Image, split
from portal.recorder.consistency.repair import refuse_damaged
from portal.recorder.event_log import ProgressCallback, no_progress, read_events, replay
from portal.recorder.events import Event
from portal.recorder.journal import JournalGap
from portal.recorder.projections import UnknownEvent
from portal.recorder.recorder import catch_up

AT_ONCE = 2000  # keys per round trip
# Keys that the image does not describe and that may stay. A waiting room knows more than the log,
# such as heartbeats, so only one that has lost entries is written (room_image.py).
KEPT_KEYS = NOT_IN_LOG - {"request", "woken", "warmup"}
LOCK = 6_001  # the class of PostgreSQL's advisory locks
WORKERS = "record", "promote", "maintain", "notify", "reconcile"
WHY = "it is being restored from the event log"


class Unrecorded(Exception):
    """The journal continues the record but could not be recorded: it must not be lost."""


class Busy(Exception):
    """Another process is restoring the term."""


@dataclass(frozen=True)
class Plan:
    """What a restored ledger will hold, by kind, and the decisions it will lose."""

    seq: int
    contents: dict[str, int]
    lost: list[Event]


@dataclass(frozen=True)
class Restored:
    """The decisions that were lost, and the result of the audit afterwards."""

    lost: list[Event]
    report: dict[str, Any]


def why_needed(term: int) -> str:
    """Return why a ledger must be restored, before any comparison; blank if nothing shows."""
    if reason := fence.why(term):
        return f"fenced, as {reason}"
    behind = journal.last_seq(term) < checkpoint(term)
    return "the ledger has lost recorded decisions" if behind else ""


def plan(term: int, progress: ProgressCallback = no_progress) -> Plan:
    """Return what `restore` would do, after recording what it can; raise the same errors."""
    _record(term)
    image = _image(term, progress)
    return Plan(checkpoint(term), _sizes(term, image), _lost(term))


def restore(term: int, progress: ProgressCallback = no_progress) -> Restored:
    """Restore the ledger and compare it with the log; if they differ, the fence stays up.

    Raises LogDamaged, Unrecorded or Busy before anything changes. Raises Changed if another primary
    took over, or the term changed behind the fence, which stays up.
    """
    with _restore_lock(term):
        before = fence.why(term)
        held = fence.replace(term, WHY)
        try:
            _record(term)
            image = _image(term, progress)
        except BaseException:
            held.release(before)
            raise
        lost, last = _lost(term), image.last.seq if image.last else 0
        held.confirm()
        _wipe(held)
        _write(held, image, progress)
        held.write(*journal.restart_commands(term, image.last))
        report = audit_term(term, progress)
        if report["clean"]:
            held.release(seq=last)
            enqueue(term, WORKERS)
        return Restored(lost, report)


@contextmanager
def _restore_lock(term: int) -> Iterator[None]:
    """Keep other processes from restoring the term; a killed process loses the lock."""
    with transaction() as session:
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        if not session.scalar(select(func.pg_try_advisory_xact_lock(LOCK, term))):
            raise Busy
        yield


def _record(term: int) -> None:
    """Record all of a journal that continues the record."""
    with suppress(JournalGap):  # otherwise it is what will be lost
        try:
            if not catch_up(term):
                raise Unrecorded("PostgreSQL is too slow: try again")
        except (UnknownEvent, ValueError) as error:
            raise Unrecorded(str(error)) from error


def _image(term: int, progress: ProgressCallback) -> Image:
    image = Image()
    replay(term, image, checkpoint(term), progress)
    refuse_damaged(image)
    return image


def _lost(term: int) -> list[Event]:
    """Return the journal's events that differ from the log or go beyond it."""
    events = journal.read_all(term)
    if not events:
        return []
    first, last = events[0].seq, events[-1].seq
    with transaction() as session:
        known = {event.seq: event for event in read_events(session, term, first - 1, last)}
    return [event for event in events if known.get(event.seq) != event]


def _sizes(term: int, image: Image) -> dict[str, int]:
    states = Counter(row["state"] for row in image.waitlist.values())
    with transaction() as session:
        answers = sum(1 for _ in _answers(session, term))
    return {
        "windows": len(image.windows),
        "sections": len(image.seats),
        "pools": len(image.pool_versions),
        "reserves": sum(len(row["reserves"]) for row in image.seats.values()),
        "seats": sum(row["enrolled"] for row in image.seats.values()),
        "waitlist positions": states["waiting"] + states["passed"],
        "of them skipped": states["passed"],
        "students who dropped": len(image.drops),
        "answers under idempotency keys": answers,
        "waiting rooms": len(room_image.lost_rooms(term, image)),
    }


def _wipe(held: OwnFence) -> None:
    """Delete the ledger's keys."""
    at = f"{prefix(held.term)}:"
    with translate_errors():
        found = backend().ledger.redis(held.term).scan_iter(match=f"{at}*", count=AT_ONCE)
        for names in ledger_keys.batches(map(bytes.decode, found), AT_ONCE):
            gone = [name for name in names if split(name[len(at) :])[0] not in KEPT_KEYS]
            if gone:
                held.write(["UNLINK", *gone])


def _write(held: OwnFence, image: Image, progress: ProgressCallback) -> None:
    at, done = f"{prefix(held.term)}:", 0
    commands = (
        ledger_keys.write_commands(at + key, BY_NAME[split(key)[0]].shape, entries)
        for key, entries in image.keys().items()
    )
    for step in ledger_keys.command_steps(chain.from_iterable(commands)):
        held.write(*step)
        done += len(step)
        progress("writing", done, done)
    rooms = room_image.lost_rooms(held.term, image)
    for step in ledger_keys.command_steps(
        room_image.commands(held.term, image, rooms, backend().ledger.now())
    ):
        held.write(*step)
    with transaction() as session:
        for step in ledger_keys.command_steps(_answers(session, held.term)):
            held.write(*step)


def _answers(session: Session, term: int) -> Iterator[Command]:
    """Yield the commands that write the answers under idempotency keys."""
    for key, answer, left in idempotency.stored_answers(
        session, term, moment(backend().ledger.now())
    ):
        yield ["SET", idempotency.answer_key(term, *key), answer, "PX", str(left)]
