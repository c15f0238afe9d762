"""What a test sends to PostgreSQL and to the ledger."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread
from typing import Any, TypeVar

from sqlalchemy import Engine, event, text

from portal.backend import backend
from portal.core.db import read_only, transaction
from portal.ledger.function_library import prefix

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


def ledger_commands(act: Callable[[], object], term: int) -> list[str]:
    """Return the commands and functions about a term that the act sends to the ledger."""
    redis, sent = backend().redis, []
    with redis.monitor() as monitor:
        act()
        redis.echo("the end")
        for seen in monitor.listen():
            name, *rest = seen["command"].split()
            if (name, rest) == ("ECHO", ["the", "end"]):
                return sent
            if seen["client_type"] != "lua" and prefix(term) in seen["command"]:
                sent.append(rest[0] if name.startswith("FCALL") else name)
    raise AssertionError("the ledger has gone")


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
