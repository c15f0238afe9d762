"""What a test sends to PostgreSQL."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread
from typing import Any

from sqlalchemy import Engine, event


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
