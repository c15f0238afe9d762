"""The ledger of a term made anew from the event log, behind a fence, where it has lost something.

Nothing is decided meanwhile. Whoever is killed leaves the fence up: it is begun again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, text

from portal.backend import backend
from portal.db import transaction
from portal.record import answered, fence, journal
from portal.record.audit import audit_term, catch_up
from portal.record.checkpoint import recorded
from portal.record.fact import Fact, moment
from portal.record.fold import Tell, logged, nobody
from portal.record.inscription import Ordered, Value, keys
from portal.record.journal import JournalGap
from portal.record.project import UnknownEvent
from portal.record.rebuild import refuse_damaged, replay
from portal.record.wake import wake
from portal.record.whole import Whole
from portal.seats.library import prefix, reached

if TYPE_CHECKING:
    from redis.client import Pipeline

AT_ONCE = 2000  # keys a round trip
# What the log doesn't know of and what may stay: a waiting room has its own order of who came when.
KEPT = ("room:", "flight:", "tally:", "fence", "journal", "seq")
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
    lost: list[Fact]


@dataclass(frozen=True)
class Restored:
    """Decisions that were forgotten, and what an audit found afterwards."""

    lost: list[Fact]
    report: dict[str, Any]


def plan(term: int, tell: Tell = nobody) -> Plan:
    """What `restore` would do, but that it records what can be recorded. Raises as that does."""
    _record(term)
    whole = _whole(term, tell)
    return Plan(recorded(term), _sizes(term, whole), _lost(term))


def restore(term: int, tell: Tell = nobody) -> Restored:
    """Restore it, and compare it with the log; the fence stays up where something differs.

    Raises LogDamaged, Unrecorded or Busy before anything is changed.
    """
    with _alone(term):
        before = fence.why(term)
        fence.put_up(term, before or WHY)
        try:
            _record(term)
            whole = _whole(term, tell)
        except BaseException:
            if not before:
                fence.take_down(term)
            raise
        lost = _lost(term)
        fence.put_up(term, WHY)
        _wipe(term)
        _write(term, whole, tell)
        journal.go_on_from(backend().redis, term, whole.last)
        report = audit_term(term, tell)
        if report["clean"]:
            fence.take_down(term)
            wake(term, PROMISED)
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
        except UnknownEvent as error:
            raise Unrecorded(str(error)) from error


def _whole(term: int, tell: Tell) -> Whole:
    whole = Whole()
    replay(term, whole, recorded(term), tell)
    refuse_damaged(whole)
    return whole


def _lost(term: int) -> list[Fact]:
    """What the journal tells otherwise than the log, or beyond it."""
    facts = journal.whole(backend().redis, term)
    if not facts:
        return []
    with transaction() as session:
        known = {fact.seq: fact for fact in logged(session, term, facts[0].seq - 1, facts[-1].seq)}
    return [fact for fact in facts if known.get(fact.seq) != fact]


def _sizes(term: int, whole: Whole) -> dict[str, int]:
    states = Counter(row["state"] for row in whole.places.values())
    with transaction() as session:
        answers = sum(1 for _ in _answers(term, session))
    return {
        "windows": len(whole.windows),
        "sections": len(whole.seats),
        "pools": len(whole.pool_versions),
        "reserves": sum(len(row["reserves"]) for row in whole.seats.values()),
        "seats": sum(row["enrolled"] for row in whole.seats.values()),
        "places in line": states["waiting"] + states["passed"],
        "of them passed over": states["passed"],
        "students who dropped": len(whole.drops),
        "answers under request keys": answers,
    }


def _wipe(term: int) -> None:
    """Let go of what the ledger holds."""
    redis, at = backend().redis, f"{prefix(term)}:"
    with reached():
        found = redis.scan_iter(match=f"{at}*", count=AT_ONCE)
        for names in _batches(found):
            gone = [name for name in names if not name.decode()[len(at) :].startswith(KEPT)]
            if gone:
                redis.unlink(*gone)


def _write(term: int, whole: Whole, tell: Tell) -> None:
    at, done = f"{prefix(term)}:", 0
    for entries in _batches(keys(whole)):
        with reached(), backend().redis.pipeline(transaction=False) as pipe:
            for name, value in entries:
                _put(pipe, at + name, value)
            pipe.execute()
        done += len(entries)
        tell("writing", done, done)
    with transaction() as session:
        for said in _batches(_answers(term, session)):
            with reached(), backend().redis.pipeline(transaction=False) as pipe:
                for key, kept, left in said:
                    pipe.set(answered.name(term, *key), kept, px=left)
                pipe.execute()


def _answers(term: int, session: Any) -> Iterator[tuple[answered.Key, str, int]]:
    return answered.known(session, term, moment(backend().ledger.now()))


def _put(pipe: "Pipeline", name: str, value: Value) -> None:
    match value:
        case str():
            pipe.set(name, value)
        case frozenset():
            pipe.sadd(name, *value)
        case Ordered(scores):
            pipe.zadd(name, dict(scores))
        case _:
            pipe.hset(name, mapping=dict(value))


def _batches(entries: Iterable[Any]) -> Iterator[list[Any]]:
    entries = iter(entries)
    while batch := list(islice(entries, AT_ONCE)):
        yield batch
