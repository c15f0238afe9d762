"""Checkpoints: how far the journal of each term is recorded in PostgreSQL."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, func, select
from sqlalchemy.orm import Mapped, Session, mapped_column

from portal.core.db import Base, transaction


class Checkpoint(Base):
    """The last recorded event of a term; the recorder that works on the term locks its row."""

    __tablename__ = "checkpoints"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, default=0)
    moved_at: Mapped[datetime] = mapped_column(server_default=func.now())


def checkpoint(term: int, session: Session | None = None) -> int:
    """Return the last event that PostgreSQL has, as the session sees it; 0 for none."""
    if session is None:
        with transaction() as own:
            return checkpoint(term, own)
    return session.scalar(select(Checkpoint.seq).where(Checkpoint.term_id == term)) or 0
