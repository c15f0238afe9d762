"""The journal of a term: the stream in the ledger that every decision is written to."""

from redis import Redis

from portal.record.fact import Fact, parsed
from portal.seats.library import prefix, reached


class JournalGap(Exception):  # noqa: N818  a state of the world, not a mistake
    """Events are missing between the record and the journal; somebody must look."""


def read(redis: Redis, term: int, after: int, count: int) -> list[Fact]:
    """The next facts behind `after`, at most `count`; raises JournalGap unless they follow it."""
    with reached(), redis.pipeline(transaction=True) as pipe:
        pipe.get(f"{prefix(term)}:seq")
        pipe.xrange(f"{prefix(term)}:journal", min=f"{after + 1}-0", count=count)
        last, entries = pipe.execute()
    facts = [parsed(fields[b"event"]) for _, fields in entries]
    expected = range(after + 1, after + 1 + len(facts))
    if any(fact.seq != seq for fact, seq in zip(facts, expected, strict=True)):
        raise JournalGap(f"term {term}: recorded up to {after}, then came {facts[0].seq}")
    if not facts and int(last or 0) != after:
        raise JournalGap(f"term {term}: recorded up to {after}, the ledger is at {last}")
    return facts


def trim(redis: Redis, term: int, through: int) -> None:
    """Forget what has been recorded, `through` included."""
    with reached():
        redis.xtrim(f"{prefix(term)}:journal", minid=f"{through + 1}-0", approximate=False)


def last_seq(redis: Redis, term: int) -> int:
    """The number of the term's latest event; 0 where there is none."""
    with reached():
        return int(redis.get(f"{prefix(term)}:seq") or 0)
