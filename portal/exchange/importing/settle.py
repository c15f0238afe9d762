"""Settles what only all rows together tell: what identifiers stand for, and what is refused."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.importing.compare import shown
from portal.exchange.importing.removals import PROTECTED
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.statements import statements

REFER = f"CREATE TEMP TABLE referred ON COMMIT DROP AS {statements('refer')[0]}"
# As the files have them: of too many students the last are refused.
PLACED = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, CASE rows.fields ->> 'role' WHEN 'teacher' THEN 'teaching' ELSE 'enrollment' END,
        classes.key || E'\\t' || CASE rows.fields ->> 'role'
            WHEN 'teacher' THEN '@' || people.key ELSE people.key END,
        CASE rows.fields ->> 'role' WHEN 'teacher' THEN '{}'
            ELSE rows.fields - '{class,user,role}'::text[] END,
        rows.removes, rows.file, rows.line
    FROM import_rows AS rows
    JOIN referred AS classes
        ON classes.kind = 'class' AND classes.sourced_id = rows.fields ->> 'class'
    JOIN referred AS people ON people.sourced_id = rows.fields ->> 'user' AND people.kind =
        CASE rows.fields ->> 'role' WHEN 'teacher' THEN 'user' ELSE 'student' END
    WHERE rows.import_id = :id AND rows.kind = 'enrolling'
    ORDER BY rows.id
""")
LEAVING = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, CASE referred.kind WHEN 'class' THEN 'section' ELSE 'account' END, referred.key,
        '{}', true, rows.file, rows.line
    FROM import_rows AS rows
    JOIN referred ON referred.kind || E'\\t' || sourced_id = rows.key
    WHERE rows.import_id = :id AND rows.kind = 'leaving'
""")
ASIDE = text("DELETE FROM import_rows WHERE import_id = :id AND kind IN ('enrolling', 'leaving')")
# The key of the teacher in that of a teaching, which begins with a term and a number.
TEACHER = "regexp_replace(rows.key, '^[^\\t]*\\t[^\\t]*\\t', '')"
# Teachers to whom an account has been linked since, by the names that files know.
NAMES = """
    SELECT teachers.name || E'\\t' || coalesce(code, '') AS name, min(key) AS key
    FROM teacher_keys JOIN teachers USING (id)
    LEFT JOIN departments ON departments.id = department_id
    WHERE starts_with(key, '@') GROUP BY 1 HAVING count(*) = 1
"""
# What they teach they go on teaching; another class is not theirs because of a name.
LINKED = text(f"""
    UPDATE import_rows AS rows SET key = now_here.key
    FROM ({NAMES}) AS linked JOIN now_here ON now_here.kind = 'teaching'
        AND right(now_here.key, length(linked.key) + 1) = E'\\t' || linked.key
    WHERE import_id = :id AND rows.kind = 'teaching' AND {TEACHER} = name
    AND rows.key = left(now_here.key, -length(linked.key)) || name
""")  # noqa: S608 - ours
IDLE = text(f"""
    DELETE FROM import_rows AS rows USING ({NAMES}) AS linked
    WHERE import_id = :id AND kind = 'teacher' AND rows.key = name AND NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE import_id = :id AND kind = 'teaching' AND {TEACHER} = name
    ) AND NOT EXISTS (SELECT FROM teacher_keys AS known WHERE known.key = name)
""")  # noqa: S608 - ours
# A new class of which the files tell no seats has those that they put students into.
OPENED = text("""
    UPDATE import_rows AS rows
    SET fields = fields || jsonb_build_object('status', 'OPEN', 'capacity', taken)
    FROM (
        SELECT split_part(key, E'\\t', 1) || E'\\t' || split_part(key, E'\\t', 2) AS section,
            count(DISTINCT key) AS taken
        FROM import_rows
        WHERE import_id = :id AND kind = 'enrollment' AND NOT removes GROUP BY 1
    ) AS seats
    WHERE import_id = :id AND kind = 'section' AND key = section AND NOT removes
    AND NOT fields ?| ARRAY['status', 'capacity'] AND NOT EXISTS (
        SELECT FROM now_here WHERE now_here.kind = 'section' AND now_here.key = rows.key
    )
""")
# Each refuses rows for one reason, which is the name of a kind of note.
REFUSALS = {
    "older": """
        DELETE FROM import_rows AS rows USING import_rows AS source, sourced_ids AS known
        WHERE rows.import_id = :id AND source.import_id = :id AND source.kind = 'source'
        AND source.key = known.kind || E'\\t' || known.sourced_id
        AND (source.fields ->> 'modified')::timestamptz < known.modified::timestamptz
        AND rows.file = source.file AND rows.line = source.line
        RETURNING rows.kind, rows.key, rows.file, rows.line
    """,
    "renamed": """
        DELETE FROM import_rows AS rows USING import_rows AS source, sourced_ids AS known
        WHERE rows.import_id = :id AND source.import_id = :id AND source.kind = 'source'
        AND source.key = known.kind || E'\\t' || known.sourced_id
        AND source.fields ->> 'key' <> known.key
        AND rows.file = source.file AND rows.line = source.line
        RETURNING rows.kind, rows.key, rows.file, rows.line
    """,
    "admin": f"""
        DELETE FROM import_rows AS every USING import_rows AS rows
        JOIN accounts ON accounts.username = rows.key
        WHERE rows.import_id = :id AND rows.kind = 'account' AND {PROTECTED}
        AND every.import_id = :id AND every.file = rows.file AND every.line = rows.line
        RETURNING every.kind, every.key, every.file, every.line
    """,  # noqa: S608 - ours
    "other_student": """
        DELETE FROM import_rows AS rows USING (
            SELECT id, first_value(key) OVER (
                PARTITION BY fields ->> 'account' ORDER BY id
            ) AS first FROM import_rows WHERE import_id = :id AND kind = 'student'
        ) AS named
        WHERE rows.id = named.id AND key <> coalesce((
            SELECT number FROM students JOIN accounts ON accounts.id = account_id
            WHERE username = fields ->> 'account'
        ), first) RETURNING kind, key, file, line
    """,
    "no_such": f"""
        DELETE FROM import_rows AS rows WHERE import_id = :id AND (
            kind = 'enrolling' AND NOT EXISTS (
                SELECT FROM import_rows AS placed WHERE placed.import_id = :id
                AND placed.kind IN ('teaching', 'enrollment')
                AND placed.file = rows.file AND placed.line = rows.line
            ) OR kind = 'teaching' AND NOT removes AND NOT (
                EXISTS (
                    SELECT FROM import_rows AS teacher WHERE teacher.import_id = :id
                    AND teacher.kind = 'teacher' AND teacher.key = {TEACHER}
                ) OR EXISTS (
                    SELECT FROM now_here WHERE now_here.kind = 'teacher'
                    AND now_here.key = {TEACHER}
                )
            )
        ) RETURNING kind, key, file, line
    """,  # noqa: S608 - ours
}


def settle(session: Session, import_id: int, report: Report) -> None:
    """Find what identifiers stand for, and refuse what can't be done, each row with its reason."""
    this = {"id": import_id}
    session.execute(text("ANALYZE import_rows, sourced_ids"))
    for reason in ("older", "renamed"):
        _refuse(session, import_id, reason, report)
    session.execute(text(REFER), this)
    session.execute(text("CREATE INDEX ON referred (kind, sourced_id)"))
    for statement in (PLACED, LEAVING, LINKED, IDLE):
        session.execute(statement, this)
    for reason in ("admin", "other_student", "no_such"):
        _refuse(session, import_id, reason, report)
    session.execute(ASIDE, this)


def open_classes(session: Session, import_id: int) -> None:
    """Open those new classes that have students and that no file tells the seats of."""
    session.execute(OPENED, {"id": import_id})


def _refuse(session: Session, import_id: int, reason: str, report: Report) -> None:
    told = set()
    for _kind, key, file, line in session.execute(text(REFUSALS[reason]), {"id": import_id}):
        if (file, line) not in told:
            report.add(Note(reason, file, line, shown(key), "", "", ""))
        told.add((file, line))
