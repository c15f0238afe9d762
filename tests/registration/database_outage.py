"""PostgreSQL outages for this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from portal.backend import backend
from portal.core import db
from portal.core.outage import postgresql
from portal.people import caches

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


def settled() -> None:
    """Apply pending changes of people, so that no later check clears what a test reads."""
    caches._seen.clear()  # noqa: SLF001 - no request would wait for the next check
    caches.refresh()


@contextmanager
def away() -> Iterator[None]:
    """Run a block without PostgreSQL."""
    db.connect(NOWHERE)
    try:
        yield
    finally:
        db.connect(backend().settings.database_url)
        postgresql.end()
