"""A recorder that can't keep up: another transaction holds its lock, and its timeout is short."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from sqlalchemy import select, text

from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.recorder import recorder


@contextmanager
def held_up(term: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run a block in which nothing of the term can be recorded."""
    with monkeypatch.context() as patch, transaction() as session:
        patch.setattr(recorder, "TIMEOUT", 0.0)
        patch.setattr(recorder, "LOCK_TIMEOUT", "10ms")
        session.execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))
        session.execute(select(Checkpoint).where(Checkpoint.term_id == term).with_for_update())
        yield
