"""PostgreSQL watched, and gone."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import pytest
from sqlalchemy import create_engine, event

from portal import cache, db
from portal.backend import Backend

Statements = Callable[[], AbstractContextManager[list[str]]]


@pytest.fixture
def statements(backend: Backend) -> Statements:
    """The SQL that is sent within a block, as it is sent."""
    engine = db.Sessions.kw["bind"]

    @contextmanager
    def sent() -> Iterator[list[str]]:
        seen: list[str] = []

        def note(*facts: object) -> None:
            seen.append(str(facts[2]))

        event.listen(engine, "before_cursor_execute", note)
        yield seen
        event.remove(engine, "before_cursor_execute", note)

    assert backend
    return sent


@pytest.fixture
def without_database(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it: PostgreSQL is away until the test ends, and an hour goes by."""

    def leave() -> None:
        nowhere = create_engine("postgresql+psycopg2://localhost:1/none")
        monkeypatch.setitem(db.Sessions.kw, "bind", nowhere)
        now = cache.monotonic
        monkeypatch.setattr(cache, "monotonic", lambda: now() + 3600)

    assert backend
    return leave
