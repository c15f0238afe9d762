"""Signals of the recorder, its audits and the scheduler.

portal/subscribers.py lists their subscribers, which are in upper packages.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.orm import Session

from portal.core.moments import milliseconds
from portal.core.queue import NO_TERM
from portal.core.signals import Signal
from portal.recorder.events import Event


@dataclass(frozen=True)
class DueJob:
    """A job that the scheduler must enqueue; a new `reason` means new work."""

    term: int
    job: str
    reason: int


def due_since(job: str, since: datetime | None) -> list[DueJob]:
    """Return a job for all terms that has been due since then; none without a time."""
    return [DueJob(NO_TERM, job, milliseconds(since))] if since else []


# In the transaction that records these events of a term.
events_recorded: Signal[Session, int, Sequence[Event]] = Signal()
# In the transaction that stores a term's first differences, with their number.
differences_found: Signal[Session, int, int] = Signal()
# Each second, with a connection for reads and the terms that are not deleted; subscribers return
# an iterable of DueJob. To make a query costs more than to ask it, so they make theirs once.
jobs_requested: Signal[Connection, Sequence[int]] = Signal()
