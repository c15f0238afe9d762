"""The differences between the records of an import and those of the portal.

The statements are in `sql/`. `records/` select keys and fields of every kind: credits are
hundredths, a meeting is a list of kind, days, times, dates, room and whether it can clash.
`upserts/` write the rows of the table `changed_rows`; the first statement of each must affect as
many rows. `removals/` remove those of the table `removed_rows`.
Plain fields of a section are filled in from `catalog.section_fields`.
"""

from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.catalog.section_fields import PLAIN
from portal.core.i18n import stored_message
from portal.exchange.importing.findings import RECORD_NAMES
from portal.exchange.importing.report import Note, Report, readable_key

SQL = Path(__file__).parent / "sql"
# No kind refers to a later one.
KINDS = (
    *("department", "subject", "course", "term", "account", "student", "teacher"),
    *("pool", "section", "teaching", "enrollment", "source"),
)
# How a plain field of a section is read out of a record.
READ_AS = {
    "text": "coalesce(after ->> '{name}', {default})",
    "int": "coalesce((after ->> '{name}')::int, 0)",
    "jsonb": "nullif(after -> '{name}', 'null')",
}
DEFAULTS = {"number": "'01'", "title": "courses.title"}


@cache
def statements(name: str) -> tuple[str, ...]:
    """Return the statements of a file such as `upserts/section`, none if it does not exist."""
    path = SQL / f"{name}.sql"
    if not path.exists():
        return ()
    text = path.read_text("utf-8")
    for token, written in _plain_fields().items():
        text = text.replace(token, written)
    return tuple(each for each in text.split(";\n") if each.strip())


@cache
def _plain_fields() -> dict[str, str]:
    """Return what the SQL of sections says of plain fields, by the token that stands for it."""
    values = [
        READ_AS[each.stored_as].format(name=each.name, default=DEFAULTS.get(each.name, "''"))
        for each in PLAIN
    ]
    return {
        "{plain_record}": ", ".join(f"'{each.name}', sections.{each.column}" for each in PLAIN),
        "{plain_columns}": ", ".join(each.column for each in PLAIN),
        "{plain_values}": ", ".join(values),
        "{plain_updates}": ", ".join(f"{each.column} = excluded.{each.column}" for each in PLAIN),
    }


def read_current(session: Session) -> None:
    """Read all records of the portal into the temporary table `current_records`.

    Deleted records, which can be restored, are in `deleted_records`.
    """
    read_keys(session)
    _fill(session, "deleted_records", statements("deleted_records")[0])
    every = [
        f"SELECT '{kind}' AS kind, of_kind.* FROM ({statements(f'records/{kind}')[0]}) AS of_kind"  # noqa: S608
        for kind in KINDS
    ]
    _fill(session, "current_records", " UNION ALL ".join(every))
    session.execute(text("CREATE INDEX ON current_records (kind, key)"))
    session.execute(text("ANALYZE current_records"))


def read_keys(session: Session) -> None:
    """Read the current keys of teachers and sections into temporary tables."""
    for table in ("teacher_keys", "section_keys"):
        _fill(session, table, statements(table)[0])


def _fill(session: Session, table: str, query: str) -> None:
    session.execute(text(f"DROP TABLE IF EXISTS {table}"))
    session.execute(text(f"CREATE TEMP TABLE {table} ON COMMIT DROP AS {query}"))


Counts = dict[str, dict[str, int]]
CHANGES = ("added", "restored", "changed", "removed", "unchanged")

# Fields that are used for new records only: the portal knows them better afterwards.
NEW_ONLY = """CASE rows.kind WHEN 'section' THEN ARRAY['status','prior']
    WHEN 'subject' THEN ARRAY['name','department']
    WHEN 'enrollment' THEN ARRAY['credits'] ELSE ARRAY[]::text[] END"""

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
            WHEN here.fields IS NULL THEN rows.fields ELSE here.fields || (rows.fields - {NEW_ONLY})
        END AS after
        FROM import_rows AS rows LEFT JOIN current_records AS here USING (kind, key)
        LEFT JOIN deleted_records AS removed USING (kind, key)
        WHERE rows.import_id = :id
    ) AS both_sides
    WHERE CASE WHEN removes THEN before IS NOT NULL ELSE before IS DISTINCT FROM after END
"""  # noqa: S608 - ours

COMPARE = text(f"""
    INSERT INTO import_changes (import_id, kind, key, change, before, after)
    SELECT :id, found.* FROM ({CHANGED_ROWS}) AS found
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
    for kind, key, file, line in session.execute(DELETE_REPEATED, {"id": import_id}):
        if line:
            report.add(
                Note(
                    "duplicate",
                    file,
                    line,
                    readable_key(key),
                    "",
                    "",
                    stored_message(RECORD_NAMES[kind]),
                )
            )


def examples(session: Session, import_id: int, each: int) -> list[Any]:
    """Return the first changes of every kind and sort, at most `each`."""
    ranked = text("""
        SELECT kind, key, change, before, after FROM (
            SELECT *, row_number() OVER (PARTITION BY kind, change ORDER BY key COLLATE "C") AS nth
            FROM import_changes WHERE import_id = :id
        ) AS ranked WHERE nth <= :each ORDER BY kind, change, nth
    """)
    return list(session.execute(ranked, {"id": import_id, "each": each}))
