"""The journal of a term: the stream in the ledger that every decision is written to."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from redis import Redis
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.checkpoints import Checkpoint
from portal.ledger import replicas
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.events import Event, entry_of, parsed

AT_ONCE = 2000  # entries


class JournalGap(Exception):  # noqa: N818  a state of the world, not a mistake
    """Events are missing between the record and the journal; somebody must look."""


def read(
    redis: Redis, term: int, anchor: Event | None, count: int, *, copies: int = 0
) -> list[Event]:
    """The facts behind the last recorded one, at most `count`, that as many replicas have.

    Raises JournalGap unless the journal still has that one, word for word, and they follow it
    without a gap: else the ledger has lost something and begun to count anew.
    """
    after = anchor.seq if anchor else 0
    # One server answers all of it: another one might have copies of something else.
    with translate_errors(), redis.pipeline(transaction=False) as pipe:
        # The number first: events that come in between can't make it seem ahead of the journal.
        pipe.get(f"{prefix(term)}:seq")
        pipe.xrange(f"{prefix(term)}:journal", min=f"{after}-0", count=count + 1)
        last, entries = replicas.execute(pipe, copies)
    facts = [parsed(fields[b"event"]) for _, fields in entries]
    if anchor and facts[:1] != [anchor]:
        raise JournalGap(f"term {term}: the journal does not have event {after} as recorded")
    facts = facts[1:] if anchor else facts[:count]
    expected = range(after + 1, after + 1 + len(facts))
    if any(fact.seq != seq for fact, seq in zip(facts, expected, strict=True)):
        raise JournalGap(f"term {term}: recorded up to {after}, then came {facts[0].seq}")
    if not facts and int(last or 0) != after:
        raise JournalGap(f"term {term}: recorded up to {after}, the ledger is at {last}")
    return facts


def find(redis: Redis, term: int, seq: int) -> Event | None:
    """The fact of that number, if the journal still holds it."""
    with translate_errors():
        found: Any = redis.xrange(f"{prefix(term)}:journal", min=f"{seq}-0", max=f"{seq}-0")
    return parsed(found[0][1][b"event"]) if found else None


def first_after(redis: Redis, term: int, recorded: int) -> Event | None:
    """The first fact behind event `recorded`; None where the journal has none that can be read."""
    with translate_errors():
        found: Any = redis.xrange(f"{prefix(term)}:journal", min=f"({recorded}-0", count=1)
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return parsed(found[0][1][b"event"])
    return None


def read_all(redis: Redis, term: int) -> list[Event]:
    """All that the journal holds, in order; read in steps, as others want the ledger too."""
    facts: list[Event] = []
    while True:
        since = f"({facts[-1].seq}-0" if facts else "-"
        with translate_errors():
            found: Any = redis.xrange(f"{prefix(term)}:journal", min=since, count=AT_ONCE)
        if not found:
            return facts
        facts += [parsed(fields[b"event"]) for _, fields in found]


def restart_commands(term: int, anchor: Event | None) -> list[list[str]]:
    """The commands by which a term goes on behind that event; where there is none, begins."""
    journal, seq = f"{prefix(term)}:journal", f"{prefix(term)}:seq"
    gone = ["DEL", journal, seq]
    if anchor is None:
        return [gone]
    entry = ["XADD", journal, f"{anchor.seq}-0", "event", entry_of(anchor)]
    return [gone, entry, ["SET", seq, str(anchor.seq)]]


def latest(redis: Redis, term: int, count: int, after: int = 0) -> list[Event]:
    """The last facts that the journal holds behind event `after`, newest first, so many at most."""
    with translate_errors():
        found: Any = redis.xrevrange(f"{prefix(term)}:journal", min=f"({after}-0", count=count)
    return [parsed(fields[b"event"]) for _, fields in found]


def trim(redis: Redis, term: int, through: int) -> None:
    """Forget what lies before event `through`, be that the anchor of the next read or earlier."""
    with translate_errors():
        redis.xtrim(f"{prefix(term)}:journal", minid=f"{through}-0", approximate=False)


def last_seq(redis: Redis, term: int) -> int:
    """The number of the term's latest event; 0 where there is none."""
    with translate_errors():
        return int(redis.get(f"{prefix(term)}:seq") or 0)


# What a journal keeps although it is recorded, for a PostgreSQL that comes back from a backup.
#
# The recorder goes on from wherever PostgreSQL is, as long as the journal has what comes behind.

KEPT_EVENTS = 100_000  # of a term
IDLE = timedelta(days=30)  # without an event, after which a backup of before is no use any more


def trim_recorded(term: int, recorded: int) -> None:
    """Have the journal forget what lies further back than that."""
    trim(backend().redis, term, max(0, recorded - KEPT_EVENTS))


def trim_idle_terms(session: Session) -> None:
    """Let go of all of it in terms that are at rest."""
    at_rest = Checkpoint.moved_at < func.now() - IDLE
    for term, seq in session.execute(select(Checkpoint.term_id, Checkpoint.seq).where(at_rest)):
        trim(backend().redis, term, seq)
