"""The role that owns the tables, with which tests break what the portal itself can't."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from portal.core import schema


@contextmanager
def as_owner() -> Iterator[Session]:
    """A transaction of that role on the throwaway servers."""
    with schema.as_owner(os.environ["DATABASE_OWNER_URL"]) as session:
        yield session
