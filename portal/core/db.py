"""PostgreSQL for every process: one engine, one way to open a transaction."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar
from urllib.parse import quote

from psycopg2.extensions import cursor
from sqlalchemy import Connection, DateTime, Engine, MetaData, Text, create_engine, event
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import DisconnectionError, UnboundExecutionError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.orm import DeclarativeBase, Session, sessionmaker

from portal.core import traces
from portal.core.correlation import sender
from portal.core.idle_connections import has_unread_data


class ChangedMeanwhile(Exception):
    """Someone else has changed the record since it was read."""


class Base(DeclarativeBase):
    metadata = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "ck": "ck_%(table_name)s_%(constraint_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )
    # The types of columns that follow from their annotations.
    type_annotation_map: ClassVar = {
        datetime: DateTime(timezone=True),
        str: Text,
        dict[str, Any]: JSONB,
    }


class CommentingCursor(cursor):
    """Says in a comment of each statement which route or job sent it, under which correlation id.

    In sqlcommenter's form, which tools that read PostgreSQL's log and activity understand; see
    https://google.github.io/sqlcommenter/spec. SQLAlchemy does not see all statements.
    """

    def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002  psycopg2's name
        super().execute(_commented(query, has_placeholders=vars is not None), vars)

    def executemany(self, query: Any, vars_list: Any) -> None:
        """Execute a statement once for each set of parameters."""
        super().executemany(_commented(query, has_placeholders=True), vars_list)

    def copy_expert(self, sql: Any, file: Any, size: int = 8192) -> None:
        super().copy_expert(_commented(sql, has_placeholders=False), file, size)


Sessions = sessionmaker[Session](expire_on_commit=False)


def connect(url: str) -> Engine:
    """Bind every later transaction of this process to the database at `url`."""
    engine = create_engine(
        with_driver(url),
        hide_parameters=True,  # failing statements are logged, and parameters may be secrets
        pool_size=20,
        max_overflow=0,
        pool_timeout=3,  # seconds that a transaction waits for a free connection
        # The time limit of a statement; the web's is shorter (runtime/gunicorn_settings.py).
        connect_args={
            "connect_timeout": 3,
            "application_name": "fairseat",
            "cursor_factory": CommentingCursor,
            "options": "-c statement_timeout=15000 -c idle_in_transaction_session_timeout=10000"
            " -c timezone=UTC",
        },
    )
    event.listen(engine, "checkout", _check)
    traces.watch(engine)
    use(engine)
    return engine


def _check(connection: Any, *_: Any) -> None:
    """Have the pool replace a connection that ended while it was idle.

    SQLAlchemy's own test asks the server each time, which is half of the time of a short query.
    """
    if connection.closed or has_unread_data(connection.fileno()):
        raise DisconnectionError


def use(engine: Engine) -> None:
    """Bind every later transaction of this process to an engine."""
    Sessions.configure(bind=engine)


def crowded(error: BaseException) -> bool:
    """Return whether PostgreSQL works but has no free connections, here or on its side."""
    cause = getattr(error, "orig", None)
    full = ("too many clients", "remaining connection slots", "too many connections")
    return isinstance(error, PoolTimeout) or any(each in str(cause) for each in full)


def with_driver(url: str) -> str:
    """Name the psycopg2 driver, since a bare `postgresql://` now means psycopg 3."""
    for bare in ("postgres://", "postgresql://"):
        if url.startswith(bare):
            return "postgresql+psycopg2://" + url.removeprefix(bare)
    return url


@contextmanager
def transaction() -> Iterator[Session]:
    """Open a session that commits at the end of the block and rolls back on an error."""
    with Sessions.begin() as session:
        yield session


@contextmanager
def read_only() -> Iterator[Connection]:
    """Open a connection for a single read: one round trip to PostgreSQL, not three.

    SQLAlchemy's isolation level AUTOCOMMIT would cost two more: it sends a statement each time
    that it is set or reset.
    """
    engine = Sessions.kw["bind"]
    if engine is None:
        raise UnboundExecutionError("The database is not connected.")
    with engine.connect() as connection:
        driver = connection.connection.driver_connection
        driver.autocommit = True
        try:
            yield connection
        finally:
            if not driver.closed:
                driver.autocommit = False


def _commented(statement: Any, *, has_placeholders: bool) -> Any:
    """Add the comment; where the statement has placeholders, double its percent signs."""
    pairs = ",".join([f"{key}='{_encoded(value)}'" for key, value in sorted(sender().items())])
    if not pairs or not isinstance(statement, str):
        return statement
    return f"{statement} /*{pairs.replace('%', '%%') if has_placeholders else pairs}*/"


@lru_cache(maxsize=1024)
def _encoded(value: str) -> str:
    return quote(value, safe="")
