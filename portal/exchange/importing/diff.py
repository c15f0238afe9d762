"""The differences between the records of an import and those of the portal."""

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.core.i18n import _k, stored_message
from portal.exchange.importing.findings import RECORD_NAMES
from portal.exchange.importing.report import Note, Report, readable_key
from portal.exchange.records import KINDS

Counts = dict[str, dict[str, int]]
CHANGES = ("added", "restored", "changed", "removed", "unchanged")


def new_only(kind: str) -> str:
    """Return the SQL of the fields of a record of that kind that only new ones have from files."""
    names = {
        name: [f"'{each.name}'" for each in found.fields if each.new_only]
        for name, found in KINDS.items()
    }
    cases = (f"WHEN '{name}' THEN ARRAY[{', '.join(each)}]" for name, each in names.items() if each)
    return f"CASE {kind} {' '.join(cases)} ELSE ARRAY[]::text[] END"


DELETE_REPEATED = text("""
    DELETE FROM import_rows AS rows USING (
        SELECT id, row_number() OVER (PARTITION BY kind, key ORDER BY id) AS nth
        FROM import_rows WHERE import_id = :id
    ) AS ranked
    WHERE rows.id = ranked.id AND nth > 1
    RETURNING rows.kind, rows.key, rows.file, rows.line
""")

CHANGED_ROWS = f"""
    SELECT kind, key, CASE
        WHEN removes THEN 'removed' WHEN before IS NOT NULL THEN 'changed'
        WHEN deleted THEN 'restored' ELSE 'added'
    END AS change, before, CASE WHEN NOT removes THEN after END AS after
    FROM (
        SELECT rows.kind, rows.key, rows.removes, here.fields AS before,
            removed.key IS NOT NULL AS deleted, CASE
            WHEN here.fields IS NULL THEN rows.fields ELSE here.fields
                || (rows.fields - {new_only("rows.kind")})
        END AS after
        FROM import_rows AS rows LEFT JOIN current_records AS here USING (kind, key)
        LEFT JOIN deleted_records AS removed USING (kind, key)
        WHERE rows.import_id = :id
    ) AS both_sides
    WHERE CASE WHEN removes THEN before IS NOT NULL ELSE before IS DISTINCT FROM after END
"""

COMPARE = text(f"""
    INSERT INTO import_changes (import_id, kind, key, change, before, after)
    SELECT :id, found.* FROM ({CHANGED_ROWS}) AS found
""")

COUNT = text("""
    SELECT kind, count(*) FILTER (WHERE change = 'added') AS added,
        count(*) FILTER (WHERE change = 'restored') AS restored,
        count(*) FILTER (WHERE change = 'changed') AS changed,
        count(*) FILTER (WHERE change = 'removed') AS removed,
        count(*) FILTER (WHERE change IS NULL) AS unchanged
    FROM import_rows LEFT JOIN (SELECT * FROM import_changes WHERE import_id = :id) AS found
    USING (kind, key) WHERE import_rows.import_id = :id GROUP BY kind
""")

# None if the portal had no instructors.
NEW_INSTRUCTORS = text("""
    SELECT key FROM import_changes
    WHERE import_id = :id AND kind = 'teacher' AND change = 'added'
        AND EXISTS (SELECT FROM current_records WHERE kind = 'teacher')
    ORDER BY key
""")
MOST_NAMED = 30
# A sum needs no order: sorting a million changes would take longer than everything else.
SUM = """
    SELECT coalesce(sum(hashtextextended(concat_ws(E'\\n', kind, key, change), jsonb_hash_extended(
        coalesce(before, 'null'), jsonb_hash_extended(coalesce(after, 'null'), 0)
    ))), 0)::text FROM
"""
STORED_DIGEST = text(f"{SUM} import_changes WHERE import_id = :id")
CURRENT_DIGEST = text(f"{SUM} ({CHANGED_ROWS}) AS found")


def compare(session: Session, import_id: int) -> tuple[Counts, str]:
    """Store the changes. Return how many there are of each kind, and a digest of them all.

    `read_current` must have been called before.
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
    return counts, str(session.scalar(STORED_DIGEST, this))


def current_digest(session: Session, import_id: int) -> str:
    """Return the digest of the changes that the import would make now."""
    return str(session.scalar(CURRENT_DIGEST, {"id": import_id}))


def drop_repeated(session: Session, import_id: int, report: Report) -> None:
    """Use the first of several rows about the same record, and report the others."""
    for row in session.execute(DELETE_REPEATED, {"id": import_id}):
        if row.line:
            report.note("duplicate", row, text=RECORD_NAMES[row.kind])


def note_new_instructors(session: Session, import_id: int, report: Report) -> None:
    """Report the instructors that are added to those of the portal: a name may be misspelled."""
    names = [readable_key(key) for key in session.scalars(NEW_INSTRUCTORS, {"id": import_id})]
    if names:
        shown = "; ".join(names[:MOST_NAMED]) + ("; …" if len(names) > MOST_NAMED else "")
        detail = stored_message(_k("%(count)s: %(names)s."), count=len(names), names=shown)
        report.add(Note("instructors_new", detail=detail))


def examples(session: Session, import_id: int, each: int) -> list[Any]:
    """Return the first changes of every kind and sort, at most `each`."""
    ranked = text("""
        SELECT kind, key, change, before, after FROM (
            SELECT *, row_number() OVER (PARTITION BY kind, change ORDER BY key COLLATE "C") AS nth
            FROM import_changes WHERE import_id = :id
        ) AS ranked WHERE nth <= :each ORDER BY kind, change, nth
    """)
    return list(session.execute(ranked, {"id": import_id, "each": each}))
