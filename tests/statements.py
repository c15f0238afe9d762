"""What a test sends to PostgreSQL."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread
from typing import Any, TypeVar

from sqlalchemy import Engine, event, text

from portal.core.db import read_only, transaction

Answer = TypeVar("Answer")


@contextmanager
def statements() -> Iterator[list[str]]:
    """The SQL that is sent within the block, as it is sent; not what the process does beside it."""
    sent: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if not current_thread().daemon:
            sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", note)


def looked_up(question: Callable[..., Answer], *facts: Any) -> Answer:
    """What the scheduler learns from a question that it asks each second."""
    with read_only() as look:
        return question(look, *facts)


def waits_for_a_lock() -> bool:
    """Return whether a transaction waits for another one."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    with transaction() as session:
        return bool(session.scalar(waiting))
