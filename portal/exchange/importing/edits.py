"""Edits that admins made since the last import: kept, or overwritten if an admin chooses that."""

from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.core.i18n import _k
from portal.exchange.importing.diff import Counts, new_only
from portal.exchange.importing.report import Report
from portal.exchange.importing.staging import INSTRUCTOR, Bases
from portal.exchange.importing.values import change_texts
from portal.exchange.record_sql import INSTRUCTOR_NAME, part, section_part
from portal.exchange.records import KINDS, read_keys

EDITED, STALE, OVERWRITTEN, REMOVED = "edited", "stale", "overwritten", "removed_here"
DELETED = "deleted_here"
HERE = _k("Here: “%(here)s”.")
FILES = _k("The file has “%(files)s”.")
BOTH = _k("Here: “%(here)s”. The file has “%(files)s”.")
# Fields that the files would change and that someone has changed since files last did. If the files
# are an export's, those are all fields of records that have changed since, and no others. Courses
# and sections that admins made have nothing but edits.
EDITED_FIELDS = f"""
    SELECT rows.id, rows.kind, rows.key, rows.file, rows.line, name, stale,
        here.fields AS here, rows.fields AS files
    FROM import_rows AS rows JOIN current_records AS here USING (kind, key)
    LEFT JOIN imported_records AS last USING (kind, key)
    CROSS JOIN LATERAL (
        SELECT rows.kind || E'\\t' || rows.key = ANY(:stale) AS stale,
            last.key IS NULL AND rows.kind IN ('course', 'section') AS made_here
    ) AS base
    CROSS JOIN LATERAL jsonb_object_keys(
        CASE WHEN stale OR made_here THEN rows.fields ELSE last.fields END
    ) AS name
    WHERE rows.import_id = :id AND NOT removes AND here.fields ? name AND rows.fields ? name
        AND rows.kind || E'\\t' || rows.key <> ALL(:current)
        AND name <> ALL({new_only("rows.kind")})
        AND (stale OR made_here OR here.fields -> name IS DISTINCT FROM last.fields -> name)
        AND here.fields -> name IS DISTINCT FROM rows.fields -> name
"""
FIND = text(f"{EDITED_FIELDS} ORDER BY rows.id, name")
KEEP = text(f"""
    UPDATE import_rows SET fields = fields - names
    FROM (SELECT id, array_agg(name) AS names FROM ({EDITED_FIELDS}) AS found GROUP BY id) AS edited
    WHERE import_rows.id = edited.id
""")
# Instructors that an earlier import gave a section, and that it no longer has.
LEAVE_REMOVED = text(f"""
    DELETE FROM import_rows AS rows USING imported_records AS last
    WHERE rows.import_id = :id AND rows.kind = 'teaching' AND NOT removes
        AND (last.kind, last.key) = (rows.kind, rows.key)
        AND NOT EXISTS (
            SELECT FROM current_records AS here WHERE (here.kind, here.key) = (rows.kind, rows.key)
        )
        AND EXISTS (
            SELECT FROM current_records AS here
            WHERE here.kind = 'section' AND here.key = {section_part("rows.key")}
                AND here.kind || E'\\t' || here.key <> ALL(:current)
        )
    RETURNING rows.key, rows.file, rows.line
""")
# Instructors whom no file has named in their section: an admin added them. The account of one may
# be newer than the files.
KEEP_ADDED = text(f"""
    DELETE FROM import_rows AS rows USING instructor_keys AS keys JOIN instructors USING (id)
        LEFT JOIN departments ON departments.id = department_id
    WHERE rows.import_id = :id AND rows.kind = 'teaching' AND fields ? 'instead'
        AND keys.key = {INSTRUCTOR} AND NOT EXISTS (
            SELECT FROM imported_records AS last WHERE last.kind = rows.kind AND last.key IN (
                rows.key, {section_part("rows.key")} || E'\\t' || {INSTRUCTOR_NAME}
            )
        )
    RETURNING rows.key, rows.file, rows.line, instructors.name, fields ->> 'instead' AS instead
""")
REMOVED_INSTRUCTORS = text("""
    SELECT key, file, line, fields ->> 'instead' AS instead FROM import_rows
    WHERE import_id = :id AND kind = 'teaching' AND fields ? 'instead' ORDER BY key
""")
# Departments, subjects, courses and sections that an admin deleted, and new records that need them:
# `left_out_records` names those of the files, with the kind of the deleted record. A course of the
# portal has its subject and department, so only new ones can lack them. Sections of a deleted term
# come back with it.
DELETED_HERE = f"""
    SELECT kind, key, kind AS because FROM deleted_records AS deleted
    WHERE kind IN ('department', 'subject', 'course') OR kind = 'section' AND NOT EXISTS (
        SELECT FROM deleted_records AS term
        WHERE term.kind = 'term' AND term.key = {part(1, "deleted.key")}
    )
"""
FIND_DELETED = (
    f"CREATE TEMP TABLE left_out_records ON COMMIT DROP AS {DELETED_HERE}",
    *(
        f"""
        INSERT INTO left_out_records
        SELECT rows.kind, rows.key, '{needed}' FROM import_rows AS rows
        JOIN left_out_records AS needed
            ON needed.kind = '{needed}' AND needed.key = rows.fields ->> '{needed}'
        WHERE import_id = :id AND rows.kind = '{kind}' AND NOT removes
        AND NOT starts_with(rows.key, '@') AND NOT EXISTS (
            SELECT FROM {unless} AS other WHERE (other.kind, other.key) = (rows.kind, rows.key)
        )
        """
        for kind, needed, unless in (
            ("subject", "department", "current_records"),
            ("teacher", "department", "current_records"),
            ("course", "department", "current_records"),
            ("course", "subject", "current_records"),
            ("section", "course", "left_out_records"),
        )
    ),
)
LEAVE_DELETED = text(f"""
    WITH left_out AS (
        DELETE FROM import_rows AS rows WHERE import_id = :id AND NOT removes AND (
            (kind, key) IN (SELECT kind, key FROM left_out_records)
            OR kind IN ('teaching', 'enrollment') AND {section_part("rows.key")} IN (
                SELECT key FROM left_out_records WHERE kind = 'section'
            )
            OR kind = 'teaching' AND {INSTRUCTOR} IN (
                SELECT key FROM left_out_records WHERE kind = 'teacher'
            )
        )
        RETURNING id, kind, key, file, line
    )
    SELECT DISTINCT ON (id) left_out.*, because FROM left_out
    LEFT JOIN left_out_records USING (kind, key) ORDER BY id, because
""")
LEAVE_DEPARTMENTS = text("""
    UPDATE import_rows SET fields = fields - 'department'
    WHERE import_id = :id AND fields ->> 'department' IN (
        SELECT key FROM left_out_records WHERE kind = 'department'
    )
""")
# Deleted rooms of sections that do not meet there in the portal.
DELETED_ROOMS = """
    SELECT rows.id, rooms.name FROM import_rows AS rows
    CROSS JOIN LATERAL jsonb_array_elements(rows.fields -> 'meetings') AS meeting
    JOIN rooms ON rooms.name = meeting ->> 6 AND rooms.deleted_at IS NOT NULL
    LEFT JOIN current_records AS here USING (kind, key)
    WHERE rows.import_id = :id AND rows.kind = 'section' AND NOT removes AND NOT coalesce(
        here.fields -> 'meetings' @> jsonb_build_array(jsonb_build_array(rooms.name)), false
    )
"""
LEAVE_ROOMS = text(f"""
    UPDATE import_rows AS rows SET fields = jsonb_set(fields, '{{meetings}}', (
        SELECT jsonb_agg(
            CASE WHEN meeting ->> 6 = ANY(names) THEN jsonb_set(meeting, '{{6}}', '""')
            ELSE meeting END ORDER BY nth
        ) FROM jsonb_array_elements(fields -> 'meetings') WITH ORDINALITY AS listed(meeting, nth)
    ))
    FROM (SELECT id, array_agg(name::text) AS names FROM ({DELETED_ROOMS}) AS found GROUP BY id)
        AS deleted
    WHERE rows.id = deleted.id
    RETURNING rows.key, rows.file, rows.line, names
""")
BECAUSE = {
    "department": _k("Its department is deleted."),
    "subject": _k("Its subject is deleted."),
    "course": _k("Its course is not imported."),
}
# New records with all their fields, so that what files leave out counts as an edit only once it is
# one.
REMEMBER_NEW = """
    INSERT INTO imported_records (kind, key, fields)
    SELECT kind, key, found.fields FROM import_changes JOIN ({select}) AS found USING (key)
    WHERE import_id = :id AND kind = :kind AND change = 'added'
    ON CONFLICT (kind, key) DO UPDATE SET fields = excluded.fields
"""
# Exports say what admins have edited, in the portal or in a spreadsheet. Records that admins made
# stay theirs, unless the files are to win. Rows without a line only name a record. Copied ones are
# the files' as soon as a row is about them, and so is who teaches, except by an edited export.
REMEMBER = text(f"""
    INSERT INTO imported_records (kind, key, fields, copied)
    SELECT kind, key, fields - '{{completed,unread}}'::text[] - {new_only("kind")}, line = 0
    FROM import_rows LEFT JOIN import_changes USING (import_id, kind, key)
    WHERE import_id = :id AND NOT removes AND (NOT exported OR change = 'added' AND (
        kind <> 'teaching' OR {section_part()} IN (
            SELECT key FROM import_changes
            WHERE import_id = :id AND kind = 'section' AND change = 'added'
        )
    )) AND (
        kind = 'teaching' AND line > 0
        OR kind IN ('course', 'section') AND line > 0 AND (change = 'added' OR :overwrite)
        OR (kind, key) IN (SELECT kind, key FROM imported_records)
    )
    ON CONFLICT (kind, key) DO UPDATE SET fields = imported_records.fields || excluded.fields,
        copied = imported_records.copied AND excluded.copied
""")
# Files keep adding completed courses, so they are no edit.
ORIGINAL = """
    INSERT INTO imported_records (kind, key, fields)
    SELECT :kind, found.key, found.fields - 'completed' FROM ({select}) AS found
    WHERE found.key = :key ON CONFLICT DO NOTHING
"""
OF_TERM = """
    INSERT INTO imported_records (kind, key, fields, copied)
    SELECT :kind, found.key, found.fields, true FROM ({select}) AS found
    WHERE {term} = :term ON CONFLICT DO NOTHING
"""
FORGET = text("""
    DELETE FROM imported_records USING import_rows AS rows
    WHERE rows.import_id = :id AND removes AND NOT exported
        AND (imported_records.kind, imported_records.key) = (rows.kind, rows.key)
""")


def keep_edits(
    session: Session, import_id: int, report: Report, bases: Bases, *, overwrite: bool
) -> None:
    """Take from an import what would undo an edit, or only report it if that is to be overwritten.

    `read_current` must have been called before.
    """
    this: dict[str, Any] = {"id": import_id}
    this |= {name: list(keys) for name, keys in vars(bases).items()}
    found = session.execute(FIND, this).all()
    for row in found:
        here, files = change_texts(row.name, row.here.get(row.name), row.files.get(row.name))
        kind = OVERWRITTEN if overwrite else STALE if row.stale else EDITED
        report.note(kind, row, row.name, files, BOTH, here=here, files=files)
    if overwrite:
        return
    if found:
        session.execute(KEEP, this)
    for row in session.execute(LEAVE_REMOVED, this):
        report.note(REMOVED, row)
    for row in session.execute(KEEP_ADDED, this):
        facts = {"here": row.name, "files": row.instead}
        detail = BOTH if row.instead else HERE
        report.note(EDITED, row, "instructors", row.instead, detail, **facts)
    _leave_deleted(session, this, report)


def note_removed_instructors(session: Session, import_id: int, report: Report) -> None:
    """Report the instructors who are removed because the files don't name them."""
    for row in session.execute(REMOVED_INSTRUCTORS, {"id": import_id}):
        detail, names = FILES if row.instead else "", row.instead
        report.note("instructor_removed", row, "instructors", names, detail, files=names)


def _leave_deleted(session: Session, this: dict[str, Any], report: Report) -> None:
    """Take records that an admin deleted from an import, and what needs them."""
    if session.execute(text(f"{DELETED_HERE} LIMIT 1")).first():
        for statement in FIND_DELETED:
            session.execute(text(statement), this)
        for row in session.execute(LEAVE_DELETED, this):
            if row.kind not in {"teaching", "teacher"}:
                because = BECAUSE.get(row.because, "") if row.because != row.kind else ""
                kind = "no_such" if row.kind == "enrollment" else DELETED
                report.note(kind, row, text=because)
        session.execute(LEAVE_DEPARTMENTS, this)
    for row in session.execute(LEAVE_ROOMS, this):
        for name in sorted(set(row.names)):
            report.note(DELETED, row, "location", name, _k("The meeting has no room."))


def uses_deleted_rooms(session: Session, import_id: int) -> bool:
    """Return whether sections would meet in rooms that are deleted; `read_current` came before."""
    return session.execute(text(f"{DELETED_ROOMS} LIMIT 1"), {"id": import_id}).first() is not None


def remember(session: Session, import_id: int, counts: Counts, *, overwrite: bool) -> None:
    """Store what the files wrote, so that the next import can tell edits from it."""
    for kind in ("course", "section"):
        if counts.get(kind, {}).get("added"):
            statement = text(REMEMBER_NEW.format(select=KINDS[kind].select))
            session.execute(statement, {"id": import_id, "kind": kind})
    session.execute(REMEMBER, {"id": import_id, "overwrite": overwrite})
    session.execute(FORGET, {"id": import_id})


def note_original(session: Session, kind: str, key: str) -> None:
    """Store an account or a student as it is before an admin's edit, as if files had written it.

    Later imports then tell the edit from what files say. Earlier imports store neither, because
    hardly any of them is ever edited.
    """
    statement = ORIGINAL.format(select=KINDS[kind].select)
    session.execute(text(statement), {"kind": kind, "key": key})


def note_copies(session: Session, term: str) -> None:
    """Store the sections of a copied term, and who teaches them, as if files had written them.

    Otherwise a later import would take all of them for an admin's edits.
    """
    read_keys(session)
    for kind in ("section", "teaching"):
        statement = OF_TERM.format(select=KINDS[kind].select, term=part(1, "found.key"))
        session.execute(text(statement), {"kind": kind, "term": term})
