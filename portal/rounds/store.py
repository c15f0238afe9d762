"""The stored state of rounds: files and ballots that several steps read."""

import hashlib
import json
import zlib
from collections.abc import Iterator
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached
from sqlalchemy import select

from portal.allocation.problem import Problem
from portal.allocation.proof import problem_of
from portal.core.db import transaction
from portal.rounds.models import BallotRow, RoundFile

BATCH = 1000  # ballots that are read at once


def frozen_problem(number: int) -> Problem:
    """Return the problem that was frozen at the end of a round."""
    return problem_of(json.loads(file_of(number, "problem") or "null"))


def file_of(number: int, kind: str) -> str | None:
    """Return a file of a round by its kind (`RoundFile`), None if there is none."""
    with transaction() as session:
        found = session.get(RoundFile, (number, kind))
    return zlib.decompress(found.content).decode() if found else None


@cached(LRUCache(maxsize=4), condition=Condition())
def published_file(number: int, _root: str | None) -> tuple[bytes, str]:
    """Return the published file of a round, compressed by zlib, and its digest.

    It has megabytes, and many students ask at once: each process reads it once.
    """
    with transaction() as session:
        content = session.get_one(RoundFile, (number, "published")).content
    return content, hashlib.sha256(content).hexdigest()


def ballots_of(number: int, *columns: Any) -> Iterator[Any]:
    """Yield these columns of all ballots of a round, and the student, by student.

    In parts: PostgreSQL ends a transaction that is idle for seconds, while many are decoded.
    """
    last, more = 0, True
    while more:
        query = (
            select(BallotRow.student_id, *columns)
            .where(BallotRow.round_id == number, BallotRow.student_id > last)
            .order_by(BallotRow.student_id)
            .limit(BATCH)
        )
        with transaction() as session:
            rows = session.execute(query).all()
        yield from rows
        more = len(rows) == BATCH
        last = rows[-1].student_id if rows else 0
