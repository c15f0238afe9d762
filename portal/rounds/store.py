"""The stored state of rounds: files, locks and audit entries that several steps share."""

import json
import zlib
from collections.abc import Iterator
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.allocation.problem import Problem
from portal.allocation.proof import problem_of
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.rounds.models import BallotRow, RoundFile
from portal.windows import rounds
from portal.windows.models import Round

BATCH = 1000  # ballots that are read at once


def frozen_problem(number: int) -> Problem:
    """Return the problem that was frozen at the end of a round."""
    return problem_of(json.loads(file_of(number, "problem") or "null"))


def file_of(number: int, kind: str) -> str | None:
    """Return a file of a round by its kind (`RoundFile`), None if there is none."""
    with transaction() as session:
        found = session.get(RoundFile, (number, kind))
    return zlib.decompress(found.content).decode() if found else None


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


def locked(session: Session, number: int) -> Round:
    """Return the round, which nobody else changes until the transaction ends."""
    return session.get_one(Round, number, with_for_update=True)


def record(  # noqa: PLR0913, PLR0917  the parts of an entry
    session: Session,
    action: str,
    found: Round,
    by: int | None,
    reason: str,
    before: dict[str, Any] | None,
    **more: str | int,
) -> None:
    """Add an audit entry about a round."""
    add_audit_entry(
        session,
        action,
        f"term:{found.term_id} round:{found.id}",
        by=by,
        before=before,
        after=rounds.facts(found) | more,
        reason=reason,
    )
