"""How far a term has been recorded."""

from sqlalchemy import select

from portal.db import transaction
from portal.record.models import Checkpoint


def recorded(term: int) -> int:
    """The number of the last event that PostgreSQL has; 0 where there is none."""
    with transaction() as session:
        return session.scalar(select(Checkpoint.seq).where(Checkpoint.term_id == term)) or 0
