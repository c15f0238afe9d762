"""Makes an import's changes true, kind by kind."""

from sqlalchemy import CursorResult, text
from sqlalchemy.orm import Session

from portal.core.i18n import _k
from portal.exchange.importing.compare import Counts
from portal.exchange.importing.current import name
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.statements import KINDS, statements
from portal.exchange.importing.tables import Progress

# Courses and teachers are shared by all terms, whose boards must therefore be read anew.
OFFER = {"department", "subject", "course", "term", "pool", "section", "teacher", "teaching"}
RENEW = text("UPDATE terms SET catalog_version = catalog_version + 1")
# PostgreSQL would plan for empty tables until it comes to look by itself.
FILLED = text("ANALYZE courses, sections, meetings, restrictions, cross_lists, section_teachers")
TERMS = text("""
    SELECT id FROM terms WHERE name IN (
        SELECT split_part(key, E'\\t', 1) FROM import_changes
        WHERE import_id = :id AND kind IN ('term', 'pool', 'section', 'teaching', 'enrollment')
    )
""")
THESE = text("""
    CREATE TEMP TABLE these ON COMMIT DROP AS
    SELECT key, change, before, after FROM import_changes
    WHERE import_id = :id AND kind = :kind AND change <> 'removed'
""")
GONE = text("""
    CREATE TEMP TABLE gone ON COMMIT DROP AS
    SELECT key FROM import_changes
    WHERE import_id = :id AND kind = :kind AND change = 'removed'
""")


def write(session: Session, import_id: int, counts: Counts, progress: Progress) -> None:
    """Write every kind of change in turn; raises ImportFailed where one can't be written."""
    if any(moved(found) for kind, found in counts.items() if kind in OFFER):
        session.execute(RENEW)
    done, total = 0, sum(moved(each) for each in counts.values())
    for kind in KINDS:
        found = counts.get(kind, {})
        if moved(found) and kind != "enrollment":  # seats are the ledger's to give
            _write(session, import_id, kind, found)
            done += moved(found)
            progress("storing", done, total)
    session.execute(FILLED)


def terms(session: Session, import_id: int) -> list[int]:
    """The terms of which something has changed."""
    return list(session.scalars(TERMS, {"id": import_id}))


def moved(found: dict[str, int]) -> int:
    """How much of a kind changes."""
    return sum(found.get(each, 0) for each in ("added", "restored", "changed", "removed"))


def _write(session: Session, import_id: int, kind: str, found: dict[str, int]) -> None:
    session.execute(text("DROP TABLE IF EXISTS these, gone"))
    for table in (THESE, GONE):
        session.execute(table, {"id": import_id, "kind": kind})
    put, *parts = statements(f"puts/{kind}")
    wanted = moved(found) - found["removed"]
    result = session.execute(text(put))
    if isinstance(result, CursorResult) and result.rowcount != wanted:
        raise ImportFailedError(
            _k("%(lost)s of %(count)s (%(kind)s) could not be stored."),
            lost=wanted - result.rowcount,
            count=wanted,
            kind=kind,
        )
    name(session)  # what was just put there
    for statement in (*parts, *statements(f"removals/{kind}")):
        session.execute(text(statement))
