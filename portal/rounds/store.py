"""The stored state of rounds: files, locks and audit entries that several steps share."""

import json
import zlib
from typing import Any

from sqlalchemy.orm import Session

from portal.allocation.problem import Problem
from portal.allocation.proof import problem_of
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.rounds.models import RoundFile
from portal.windows import rounds
from portal.windows.models import Round


def frozen_problem(number: int) -> Problem:
    """Return the problem that was frozen at the end of a round."""
    return problem_of(json.loads(file_of(number, "problem") or "null"))


def file_of(number: int, kind: str) -> str | None:
    """Return a file of a round by its kind (`RoundFile`), None if there is none."""
    with transaction() as session:
        found = session.get(RoundFile, (number, kind))
    return zlib.decompress(found.content).decode() if found else None


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
