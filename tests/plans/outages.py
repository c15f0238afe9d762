"""PostgreSQL away, for this process."""

from collections.abc import Iterator
from contextlib import contextmanager

from portal import db
from portal.backend import backend
from portal.outage import postgresql

NOWHERE = "postgresql://nobody@127.0.0.1:1/nothing"


@contextmanager
def away() -> Iterator[None]:
    """A block in which nobody answers where PostgreSQL should be."""
    db.connect(NOWHERE)
    try:
        yield
    finally:
        db.connect(backend().settings.database_url)
        postgresql.end()
