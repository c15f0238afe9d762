"""What goes: what the files should name and don't, unless it is still needed."""

from collections.abc import Iterable

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.importing.compare import shown
from portal.exchange.importing.report import Note, Report

# Sections of the terms that the files are about.
SECTIONS = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, kind, key, '{}', true, '', 0 FROM now_here AS here
    WHERE kind = 'section' AND fields ->> 'status' <> 'CANCELED'
    AND split_part(key, E'\\t', 1) IN (
        SELECT split_part(key, E'\\t', 1) FROM import_rows
        WHERE import_id = :id AND kind = 'section'
    ) AND NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE rows.import_id = :id AND rows.kind = 'section' AND rows.key = here.key
    )
""")
# Who teaches or takes one of the sections that the files name.
PARTS = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, kind, key, '{}', true, '', 0 FROM now_here AS here
    WHERE kind = :kind
    AND split_part(key, E'\\t', 1) || E'\\t' || split_part(key, E'\\t', 2) IN (
        SELECT key FROM import_rows WHERE import_id = :id AND kind = 'section' AND NOT removes
    ) AND NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE rows.import_id = :id AND rows.kind = :kind AND rows.key = here.key
    )
""")
# People whom earlier files have named. What the portal's own exports call them is no file's word.
ACCOUNTS = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, 'account', key, '{}', true, '', 0 FROM sourced_ids AS known
    JOIN now_here AS here USING (key)
    WHERE known.kind = 'user' AND here.kind = 'account'
    AND known.sourced_id <> 'user-' || md5(known.key) AND NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE rows.import_id = :id AND rows.kind = 'account' AND rows.key = here.key
    )
""")
UNNAMED = {"section": SECTIONS, "teaching": PARTS, "enrollment": PARTS, "account": ACCOUNTS}
# Of `rows`: an admin's account, or that of whoever imports, in another way than it is.
PROTECTED = """
    (accounts.is_admin OR accounts.id = (SELECT account_id FROM imports WHERE imports.id = :id))
    AND (rows.removes OR accounts.deleted_at IS NOT NULL
        OR accounts.name <> rows.fields ->> 'name' OR accounts.email <> rows.fields ->> 'email')
"""
ADMINS = text(f"""
    DELETE FROM import_rows AS rows USING accounts
    WHERE import_id = :id AND kind = 'account' AND key = username AND {PROTECTED}
    RETURNING key, file, line
""")  # noqa: S608 - ours
TAKEN = text("""
    DELETE FROM import_rows WHERE import_id = :id AND kind = 'section' AND removes AND key IN (
        SELECT terms.name || E'\\t' || crn FROM sections JOIN terms ON terms.id = sections.term_id
        LEFT JOIN section_seats ON section_id = sections.id
        WHERE prior_enrolled > 0 OR enrolled > 0 OR waiting > 0
    ) RETURNING key, file, line
""")


def remove_unnamed(session: Session, import_id: int, kinds: Iterable[str]) -> None:
    """Let go of what the files don't name, of those kinds."""
    for kind in sorted(kinds):
        session.execute(UNNAMED[kind], {"id": import_id, "kind": kind})


def keep_taken(session: Session, import_id: int, report: Report) -> None:
    """Remove no section in which somebody is or for which somebody waits, and touch no admin."""
    for kind, found in (("taken", TAKEN), ("admin", ADMINS)):
        for key, file, line in session.execute(found, {"id": import_id}):
            report.add(Note(kind, file, line, shown(key), "", "", ""))
