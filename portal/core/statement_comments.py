"""Each SQL statement says in a comment which route or job sent it, and under which correlation id.

In sqlcommenter's form, which tools that read PostgreSQL's log and activity understand; see
https://google.github.io/sqlcommenter/spec.
"""

import re
from functools import lru_cache
from typing import Any

from psycopg2.extensions import cursor

from portal.core.correlation import sender

PARAMETER = re.compile(r"<(?:[^<>:]*:)?([^<>]*)>")  # as in /terms/<int:term>
# Without percent signs, which psycopg2 would take for the places of parameters.
UNSAFE = re.compile(r"[^\w./:-]", re.ASCII)


class CommentingCursor(cursor):
    """Adds the comment to each statement, also to those that SQLAlchemy does not see."""

    def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002  psycopg2's name
        """Execute a statement."""
        super().execute(_commented(query), vars)

    def executemany(self, query: Any, vars_list: Any) -> None:
        """Execute a statement once for each set of parameters."""
        super().executemany(_commented(query), vars_list)

    def copy_expert(self, sql: Any, file: Any, size: int = 8192) -> None:
        """Copy from a file or to one."""
        super().copy_expert(_commented(sql), file, size)


def _commented(statement: Any) -> Any:
    pairs = ",".join([f"{name}='{_safe(value)}'" for name, value in sender().items()])
    if not pairs or not isinstance(statement, str):
        return statement
    return f"{statement} /*{pairs}*/"


@lru_cache(maxsize=1024)
def _safe(value: str) -> str:
    return UNSAFE.sub("_", PARAMETER.sub(r":\1", value))
