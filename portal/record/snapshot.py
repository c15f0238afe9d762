"""The ledger as it stands at one moment, laid flat."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from redis import Redis

from portal.record.picture import Entry, Picture, of_pair
from portal.seats.library import prefix, reached

Hash = dict[bytes, bytes]


def sections_of(redis: Redis, term: int) -> set[int]:
    """The sections that the ledger lists."""
    with reached():
        return {int(section) for section in redis.hkeys(f"{prefix(term)}:seats")}


def students(redis: Redis, term: int, sections: Iterable[int]) -> set[int]:
    """Who has a seat or a place in line in these sections."""
    at = prefix(term)
    with reached(), redis.pipeline(transaction=False) as pipe:
        for section in sections:
            pipe.hkeys(f"{at}:roster:{section}")
            pipe.zrange(f"{at}:queue:{section}", 0, -1)
        return {int(student) for found in pipe.execute() for student in found}


def take(
    redis: Redis, term: int, sections: Iterable[int], students: Iterable[int], *, only: bool = False
) -> tuple[int, Picture]:
    """The number of the last event and what the ledger holds, in one atomic step.

    Covers the sections given beside those that the ledger lists, unless it is `only` they, and
    those students' own keys.
    """
    at = prefix(term)
    students = sorted(students)
    with reached():
        listed = set() if only else sections_of(redis, term)
        known = sorted(listed | set(sections))
        pools = sorted(int(pool) for pool in redis.hkeys(f"{at}:pools"))
        with redis.pipeline(transaction=True) as pipe:
            pipe.get(f"{at}:seq")
            pipe.hgetall(f"{at}:seats")
            pipe.hgetall(f"{at}:windows")
            pipe.smembers(f"{at}:vacant")
            pipe.smembers(f"{at}:emptying")
            pipe.hgetall(f"{at}:pools")
            for pool in pools:
                pipe.smembers(f"{at}:pool:{pool}")
            for section in known:
                pipe.hgetall(f"{at}:section:{section}")
                pipe.hgetall(f"{at}:roster:{section}")
                pipe.zrange(f"{at}:queue:{section}", 0, -1, withscores=True)
                pipe.hgetall(f"{at}:passed:{section}")
                pipe.hgetall(f"{at}:reserved:{section}")
            for student in students:
                pipe.hgetall(f"{at}:student:{student}")
            replies = iter(pipe.execute())
    seq = int(next(replies) or 0)
    return seq, dict(_entries(replies, known, pools, students))


def _entries(
    replies: Iterator[Any], sections: list[int], pools: list[int], students: list[int]
) -> Iterator[Entry]:
    rows = {int(section): json.loads(counts) for section, counts in next(replies).items()}
    for section, counts in rows.items():
        # Without the ninth, those in line who are to be asked yet: no event tells of them.
        yield ("counts", f"section {section}"), [*counts[:8], *counts[9:]]
    for window, kept in next(replies).items():
        yield ("windows", f"window {int(window)}"), _window(json.loads(kept))
    for section in map(int, next(replies)):
        if not _only_kept(rows.get(section)):
            yield ("vacant", f"section {section}"), True
    for section in next(replies):
        yield ("emptying", f"section {int(section)}"), True
    capacities = next(replies)
    for pool in pools:
        members = sorted(int(section) for section in next(replies))
        told = int(capacities[str(pool).encode()].split(b":")[0])
        yield ("pool", f"pool {pool}"), [told, members]
    for section in sections:
        yield from _section(section, replies)
    for student in students:
        for field, value in next(replies).items():
            told = json.loads(value) if field.startswith(b"c:") else value.decode()
            yield ("student", f"student {student}, {field.decode()}"), told


def _only_kept(counts: list[Any] | None) -> bool:
    """Whether all the seats that are left are kept."""
    if counts is None or len(counts) < 8:
        return False
    capacity, taken, kept = counts[0], counts[1], counts[7]
    return bool(taken < capacity <= taken + kept)


def _section(section: int, replies: Iterator[Any]) -> Iterator[Entry]:
    known, roster, queue, passed, reserved = (next(replies) for _ in range(5))
    if known:
        yield ("section", f"section {section}"), _catalogued(known)
    for student, seat in roster.items():
        yield ("roster", of_pair(section, int(student))), seat.decode()
    for student, ticket in queue:
        yield ("queue", of_pair(section, int(student))), int(ticket)
    for student, reasons in passed.items():
        yield ("passed", of_pair(section, int(student))), json.loads(reasons)
    if reserved:
        held = {reserve.decode(): int(seats) for reserve, seats in reserved.items()}
        yield ("reserved", f"section {section}"), held


def _catalogued(known: Hash) -> dict[str, Any]:
    numbers = {name: int(known[name.encode()]) for name in ("capacity", "waitlist", "prior")}
    numbers["pool"] = int(known.get(b"pool", 0))
    reserves = json.loads(known.get(b"reserves", b"[]")) or []
    return numbers | {"status": known[b"status"].decode(), "reserves": reserves}


def _window(kept: dict[str, Any]) -> dict[str, Any]:
    return {name: kept.get(name) for name in ("name", "opens", "closes", "state", "cohort")}
