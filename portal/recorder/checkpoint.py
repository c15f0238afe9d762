"""How far a term has been recorded."""

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.recorder.models import Checkpoint


def recorded(term: int, session: Session | None = None) -> int:
    """The number of the last event that PostgreSQL has, as the session sees it; 0 for none."""
    if session is None:
        with transaction() as own:
            return recorded(term, own)
    return session.scalar(select(Checkpoint.seq).where(Checkpoint.term_id == term)) or 0
