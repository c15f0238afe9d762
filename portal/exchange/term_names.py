"""The records of imports follow terms, courses and students whose name, code or number changes."""

from sqlalchemy import exists, select, text
from sqlalchemy.orm import Session

from portal.exchange.importing.models import BUSY, Import

# A key is the term's name, or begins with it and a tab.
RENAME_TERM = """
    UPDATE {table} SET key = :new || substr(key, length(:old) + 1)
    WHERE key = :old AND kind IN ('term', 'session') OR starts_with(key, :old || E'\\t')
"""
RENAME_RECORD = "UPDATE {table} SET key = :new WHERE key = :old AND kind = :kind"
TABLES = ("sourced_ids", "imported_records")


class ImportPending(Exception):
    """An import is in progress or waits for a decision, and names records as they were."""


def rename(session: Session, kind: str, old: str, new: str) -> None:
    """Let imports and exports find a renamed term, course or student. Raise ImportPending."""
    pending = exists().where(Import.state.in_((*BUSY, "columns", "ready")))
    if session.scalar(select(pending)):
        raise ImportPending
    statement = RENAME_TERM if kind == "term" else RENAME_RECORD
    facts = {"kind": kind, "old": old, "new": new}
    for table in TABLES:
        session.execute(text(statement.format(table=table)), facts)
