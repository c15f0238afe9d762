"""What a journal keeps although it is recorded, for a PostgreSQL that comes back from a backup.

The recorder goes on from wherever PostgreSQL is, as long as the journal has what comes behind.
"""

from datetime import timedelta

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.recorder import journal
from portal.recorder.models import Checkpoint

EVENTS = 100_000  # of a term
REST = timedelta(days=30)  # without an event, after which a backup of before is no use any more


def keep(term: int, recorded: int) -> None:
    """Have the journal forget what lies further back than that."""
    journal.trim(backend().redis, term, max(0, recorded - EVENTS))


def forget(session: Session) -> None:
    """Let go of all of it in terms that are at rest."""
    at_rest = Checkpoint.moved_at < func.now() - REST
    for term, seq in session.execute(select(Checkpoint.term_id, Checkpoint.seq).where(at_rest)):
        journal.trim(backend().redis, term, seq)
