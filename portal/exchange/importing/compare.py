"""What an import would change: its records against what is here."""

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.core.i18n import stored_message
from portal.exchange.importing.kinds import RECORDS
from portal.exchange.importing.report import Note, Report

Counts = dict[str, dict[str, int]]
CHANGES = ("added", "restored", "changed", "removed", "unchanged")

# What only counts for a section that is new: of others the portal itself knows better.
ONCE = """CASE rows.kind WHEN 'section' THEN ARRAY['status','prior']
    WHEN 'subject' THEN ARRAY['name','department']
    WHEN 'enrollment' THEN ARRAY['credits'] ELSE ARRAY[]::text[] END"""

TWICE = text("""
    DELETE FROM import_rows AS rows USING (
        SELECT id, row_number() OVER (PARTITION BY kind, key ORDER BY id) AS nth
        FROM import_rows WHERE import_id = :id
    ) AS ranked
    WHERE rows.id = ranked.id AND nth > 1
    RETURNING rows.kind, rows.key, rows.file, rows.line
""")

FOUND = f"""
    SELECT kind, key, CASE
        WHEN removes THEN 'removed' WHEN before IS NOT NULL THEN 'changed'
        WHEN deleted THEN 'restored' ELSE 'added'
    END AS change, before, CASE WHEN NOT removes THEN after END AS after
    FROM (
        SELECT rows.kind, rows.key, rows.removes, here.fields AS before,
            gone.key IS NOT NULL AS deleted, CASE
            WHEN here.fields IS NULL THEN rows.fields ELSE here.fields || (rows.fields - {ONCE})
        END AS after
        FROM import_rows AS rows LEFT JOIN now_here AS here USING (kind, key)
        LEFT JOIN deleted_here AS gone USING (kind, key)
        WHERE rows.import_id = :id
    ) AS both_sides
    WHERE CASE WHEN removes THEN before IS NOT NULL ELSE before IS DISTINCT FROM after END
"""  # noqa: S608 - ours

COMPARE = text(f"""
    INSERT INTO import_changes (import_id, kind, key, change, before, after)
    SELECT :id, found.* FROM ({FOUND}) AS found
""")  # noqa: S608 - ours

COUNT = text("""
    SELECT kind, count(*) FILTER (WHERE change = 'added') AS added,
        count(*) FILTER (WHERE change = 'restored') AS restored,
        count(*) FILTER (WHERE change = 'changed') AS changed,
        count(*) FILTER (WHERE change = 'removed') AS removed,
        count(*) FILTER (WHERE change IS NULL) AS unchanged
    FROM import_rows LEFT JOIN (SELECT * FROM import_changes WHERE import_id = :id) AS found
    USING (kind, key) WHERE import_rows.import_id = :id GROUP BY kind
""")

# A sum needs no order: of a million changes a sort takes longer than all else.
SUM = """
    SELECT coalesce(sum(hashtextextended(concat_ws(E'\\n', kind, key, change), jsonb_hash_extended(
        coalesce(before, 'null'), jsonb_hash_extended(coalesce(after, 'null'), 0)
    ))), 0)::text FROM
"""
KEPT = text(f"{SUM} import_changes WHERE import_id = :id")
NOW = text(f"{SUM} ({FOUND}) AS found")


def compare(session: Session, import_id: int) -> tuple[Counts, str]:
    """Write down what would change, and give how much of each kind, and a digest of all of it.

    To be called when everything has been gathered.
    """
    this = {"id": import_id}
    session.execute(text("ANALYZE import_rows"))
    session.execute(text("DELETE FROM import_changes WHERE import_id = :id"), this)
    session.execute(COMPARE, this)
    session.execute(text("ANALYZE import_changes"))
    counts = {
        row["kind"]: {change: row[change] for change in CHANGES}
        for row in session.execute(COUNT, this).mappings()
    }
    return counts, str(session.scalar(KEPT, this))


def digest(session: Session, import_id: int) -> str:
    """The same of what would change as things are now."""
    return str(session.scalar(NOW, {"id": import_id}))


def drop_repeated(session: Session, import_id: int, report: Report) -> None:
    """Let the first of several rows about the same thing count, and name the others."""
    for kind, key, file, line in session.execute(TWICE, {"id": import_id}):
        if line:
            report.add(
                Note("duplicate", file, line, shown(key), "", "", stored_message(RECORDS[kind]))
            )


def shown(key: str) -> str:
    """A key as people read it."""
    return key.replace("\t", " · ")


def examples(session: Session, import_id: int, each: int) -> list[Any]:
    """The first changes of every kind and sort, so many `each`."""
    ranked = text("""
        SELECT kind, key, change, before, after FROM (
            SELECT *, row_number() OVER (PARTITION BY kind, change ORDER BY key COLLATE "C") AS nth
            FROM import_changes WHERE import_id = :id
        ) AS ranked WHERE nth <= :each ORDER BY kind, change, nth
    """)
    return list(session.execute(ranked, {"id": import_id, "each": each}))
