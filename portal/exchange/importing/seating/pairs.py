"""A change of section: an addition and a removal of one student in one course, done as one."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.importing.compare import Counts

# Courses as the import leaves them. Of several, the first addition goes with the first removal.
PAIR = text("""
    WITH courses AS (
        SELECT key, coalesce(rows.fields ->> 'course', here.fields ->> 'course') AS course
        FROM (SELECT key, fields FROM now_here WHERE kind = 'section') AS here
        FULL JOIN (
            SELECT key, fields FROM import_rows
            WHERE import_id = :id AND kind = 'section' AND NOT removes
        ) AS rows USING (key)
    ), seats AS (
        SELECT rows.id, removes, split_part(rows.key, E'\\t', 1) AS term, course,
            split_part(rows.key, E'\\t', 3) AS student
        FROM import_rows AS rows JOIN import_changes USING (import_id, kind, key)
        JOIN courses ON courses.key =
            split_part(rows.key, E'\\t', 1) || E'\\t' || split_part(rows.key, E'\\t', 2)
        WHERE import_id = :id AND kind = 'enrollment'
    ), ranked AS (
        SELECT *, row_number() OVER (
            PARTITION BY removes, term, course, student ORDER BY id
        ) AS nth FROM seats
    ), pairs AS (
        SELECT come.id AS come, gone.id AS gone
        FROM ranked AS come JOIN ranked AS gone USING (term, course, student, nth)
        WHERE gone.removes AND NOT come.removes
    )
    UPDATE import_rows AS rows SET pair = other
    FROM (SELECT come AS id, gone AS other FROM pairs UNION ALL SELECT gone, come FROM pairs)
        AS both_ways
    WHERE rows.id = both_ways.id
""")


def pair(session: Session, import_id: int, counts: Counts) -> None:
    """Find the changes of section among what has just been compared."""
    seats = counts.get("enrollment", {})
    if seats.get("added") and seats.get("removed"):
        session.execute(PAIR, {"id": import_id})
