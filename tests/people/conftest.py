"""PostgreSQL gone."""

from collections.abc import Callable

import pytest
from sqlalchemy import create_engine

from portal.backend import Backend
from portal.core import cache, db


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
