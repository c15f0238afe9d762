"""The ledger as it stands at one moment, laid flat."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from redis import Redis

from portal.record.picture import Entry, Picture, of_pair
from portal.seats.library import prefix, reached

Hash = dict[bytes, bytes]


def take(
    redis: Redis, term: int, sections: Iterable[int], students: Iterable[int]
) -> tuple[int, Picture]:
    """The number of the last event and what the ledger holds, in one atomic step.

    Covers the sections given beside those that the ledger lists, and those students' own keys.
    """
    at = prefix(term)
    students = sorted(students)
    with reached():
        listed = {int(section) for section in redis.hkeys(f"{at}:seats")}
        known = sorted(listed | set(sections))
        with redis.pipeline(transaction=True) as pipe:
            pipe.get(f"{at}:seq")
            pipe.hgetall(f"{at}:seats")
            pipe.hgetall(f"{at}:windows")
            pipe.smembers(f"{at}:vacant")
            for section in known:
                pipe.hgetall(f"{at}:section:{section}")
                pipe.hgetall(f"{at}:roster:{section}")
                pipe.zrange(f"{at}:queue:{section}", 0, -1, withscores=True)
                pipe.hgetall(f"{at}:passed:{section}")
            for student in students:
                pipe.hgetall(f"{at}:student:{student}")
            replies = iter(pipe.execute())
    seq = int(next(replies) or 0)
    return seq, dict(_entries(replies, known, students))


def _entries(replies: Iterator[Any], sections: list[int], students: list[int]) -> Iterator[Entry]:
    for section, counts in next(replies).items():
        yield ("counts", f"section {int(section)}"), json.loads(counts)
    for window, kept in next(replies).items():
        yield ("windows", f"window {int(window)}"), _window(json.loads(kept))
    for section in next(replies):
        yield ("vacant", f"section {int(section)}"), True
    for section in sections:
        yield from _section(section, *(next(replies) for _ in range(4)))
    for student in students:
        for field, value in next(replies).items():
            told = json.loads(value) if field.startswith(b"c:") else value.decode()
            yield ("student", f"student {student}, {field.decode()}"), told


def _section(
    section: int, known: Hash, roster: Hash, queue: list[tuple[bytes, float]], passed: Hash
) -> Iterator[Entry]:
    if known:
        yield ("section", f"section {section}"), _catalogued(known)
    for student, seat in roster.items():
        yield ("roster", of_pair(section, int(student))), seat.decode()
    for student, ticket in queue:
        yield ("queue", of_pair(section, int(student))), int(ticket)
    for student, reasons in passed.items():
        yield ("passed", of_pair(section, int(student))), json.loads(reasons)


def _catalogued(known: Hash) -> dict[str, Any]:
    numbers = {name: int(known[name.encode()]) for name in ("capacity", "waitlist", "prior")}
    return numbers | {"status": known[b"status"].decode()}


def _window(kept: dict[str, Any]) -> dict[str, Any]:
    return {name: kept.get(name) for name in ("name", "opens", "closes", "state", "cohort")}
