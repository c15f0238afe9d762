"""The journal of a term: the stream in the ledger that every decision is written to."""

from contextlib import suppress
from typing import Any

from redis import Redis

from portal.ledger import replicas
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.fact import Fact, entry_of, parsed

AT_ONCE = 2000  # entries


class JournalGap(Exception):  # noqa: N818  a state of the world, not a mistake
    """Events are missing between the record and the journal; somebody must look."""


def read(
    redis: Redis, term: int, anchor: Fact | None, count: int, *, copies: int = 0
) -> list[Fact]:
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


def entry(redis: Redis, term: int, seq: int) -> Fact | None:
    """The fact of that number, if the journal still holds it."""
    with translate_errors():
        found: Any = redis.xrange(f"{prefix(term)}:journal", min=f"{seq}-0", max=f"{seq}-0")
    return parsed(found[0][1][b"event"]) if found else None


def first_behind(redis: Redis, term: int, recorded: int) -> Fact | None:
    """The first fact behind event `recorded`; None where the journal has none that can be read."""
    with translate_errors():
        found: Any = redis.xrange(f"{prefix(term)}:journal", min=f"({recorded}-0", count=1)
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return parsed(found[0][1][b"event"])
    return None


def whole(redis: Redis, term: int) -> list[Fact]:
    """All that the journal holds, in order; read in steps, as others want the ledger too."""
    facts: list[Fact] = []
    while True:
        since = f"({facts[-1].seq}-0" if facts else "-"
        with translate_errors():
            found: Any = redis.xrange(f"{prefix(term)}:journal", min=since, count=AT_ONCE)
        if not found:
            return facts
        facts += [parsed(fields[b"event"]) for _, fields in found]


def anew(term: int, anchor: Fact | None) -> list[list[str]]:
    """The commands by which a term goes on behind that event; where there is none, begins."""
    journal, seq = f"{prefix(term)}:journal", f"{prefix(term)}:seq"
    gone = ["DEL", journal, seq]
    if anchor is None:
        return [gone]
    entry = ["XADD", journal, f"{anchor.seq}-0", "event", entry_of(anchor)]
    return [gone, entry, ["SET", seq, str(anchor.seq)]]


def latest(redis: Redis, term: int, count: int, after: int = 0) -> list[Fact]:
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
