"""The name of a term in the records of imports, which know terms and their sections by it."""

from sqlalchemy import exists, select, text
from sqlalchemy.orm import Session

from portal.exchange.importing.models import BUSY, Import

# A key is the term's name, or begins with it and a tab.
RENAME = """
    UPDATE {table} SET key = :new || substr(key, length(:old) + 1)
    WHERE key = :old AND kind IN ('term', 'session') OR starts_with(key, :old || E'\\t')
"""


class ImportPending(Exception):  # noqa: N818  an expected state, not an error
    """An import is in progress or waits for a decision, and names terms as they were."""


def rename(session: Session, old: str, new: str) -> None:
    """Have later imports and exports find the records of a renamed term. Raise ImportPending."""
    pending = exists().where(Import.state.in_((*BUSY, "columns", "ready")))
    if session.scalar(select(pending)):
        raise ImportPending
    for table in ("sourced_ids", "imported_records"):
        session.execute(text(RENAME.format(table=table)), {"old": old, "new": new})
