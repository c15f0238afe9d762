"""What the portal has now, as records, to compare with."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.importing.statements import KINDS, statements


def gather(session: Session) -> None:
    """Everything as it is now, in a table `now_here` that lasts until the transaction ends.

    What is deleted, and so can be restored, stands in `deleted_here`.
    """
    name(session)
    _fill(session, "deleted_here", statements("deleted")[0])
    every = [
        f"SELECT '{kind}' AS kind, of_kind.* FROM ({statements(f'records/{kind}')[0]}) AS of_kind"  # noqa: S608
        for kind in KINDS
    ]
    _fill(session, "now_here", " UNION ALL ".join(every))
    session.execute(text("CREATE INDEX ON now_here (kind, key)"))
    session.execute(text("ANALYZE now_here"))


def name(session: Session) -> None:
    """The keys of teachers and sections as they are now, in tables that last as long."""
    for table in ("teacher_keys", "section_keys"):
        _fill(session, table, statements(table)[0])


def _fill(session: Session, table: str, query: str) -> None:
    session.execute(text(f"DROP TABLE IF EXISTS {table}"))
    session.execute(text(f"CREATE TEMP TABLE {table} ON COMMIT DROP AS {query}"))
