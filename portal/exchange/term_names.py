"""Names of terms and codes of courses in the records of imports, which know both by them."""

from sqlalchemy import exists, select, text
from sqlalchemy.orm import Session

from portal.exchange.importing.models import BUSY, Import

# A key is the term's name, or begins with it and a tab.
RENAME = """
    UPDATE {table} SET key = :new || substr(key, length(:old) + 1)
    WHERE key = :old AND kind IN ('term', 'session') OR starts_with(key, :old || E'\\t')
"""
RENAME_COURSE = "UPDATE {table} SET key = :new WHERE key = :old AND kind = 'course'"
RENAME_STUDENT = "UPDATE {table} SET key = :new WHERE key = :old AND kind = 'student'"
TABLES = ("sourced_ids", "imported_records")


class ImportPending(Exception):
    """An import is in progress or waits for a decision, and names records as they were."""


def rename(session: Session, old: str, new: str) -> None:
    """Have later imports and exports find the records of a renamed term. Raise ImportPending."""
    _rename(session, RENAME, old, new)


def rename_course(session: Session, old: str, new: str) -> None:
    """Have later imports and exports find the records of a course with another code.

    Raise ImportPending.
    """
    _rename(session, RENAME_COURSE, old, new)


def rename_student(session: Session, old: str, new: str) -> None:
    """The same for a student with another number. Raise ImportPending."""
    _rename(session, RENAME_STUDENT, old, new)


def _rename(session: Session, statement: str, old: str, new: str) -> None:
    pending = exists().where(Import.state.in_((*BUSY, "columns", "ready")))
    if session.scalar(select(pending)):
        raise ImportPending
    for table in TABLES:
        session.execute(text(statement.format(table=table)), {"old": old, "new": new})
