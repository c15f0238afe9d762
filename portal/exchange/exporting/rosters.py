"""Rosters as tables: students enrolled in a section or a term, and its waitlists."""

from collections.abc import Iterator

from sqlalchemy import text

from portal.core.db import transaction

SECTIONS = 100  # that are read at once
HEADER = (
    "course",
    "section",
    "crn",
    "state",
    "number",
    "name",
    "email",
    "year",
    "level",
    "credits",
    "private",
)
OFFERED = text("""
    SELECT sections.id FROM sections JOIN courses ON courses.id = course_id
    WHERE term_id = :term AND (CAST(:section AS int) IS NULL OR sections.id = :section)
    ORDER BY courses.code, sections.number, sections.id
""")
# Waiting students come after enrolled ones, in waitlist order.
PEOPLE = text("""
    SELECT courses.code, sections.number AS section, crn, state, students.number, accounts.name,
        accounts.email, year, level, trim_scale(credits / 100.0) AS credits,
        CASE WHEN private THEN 'private' ELSE '' END AS private, place
    FROM (
        SELECT section_id, student_id, 'enrolled' AS state, credits, 0 AS band, 0::bigint AS place
        FROM enrollments WHERE term_id = :term AND state = 'enrolled'
        UNION ALL
        SELECT section_id, student_id, 'waiting', credits, band, ticket FROM waitlist_positions
        WHERE term_id = :term AND state IN ('waiting', 'passed')
    ) AS people
    JOIN sections ON sections.id = section_id JOIN courses ON courses.id = course_id
    JOIN students ON students.id = student_id JOIN accounts ON accounts.id = account_id
    WHERE section_id = ANY(:sections)
    ORDER BY courses.code, sections.number, section_id, band, place, accounts.name, students.number
""")


def rosters(term_id: int, section_id: int | None = None) -> Iterator[list[str]]:
    """Yield the header, then everyone in the term's sections or in one of them."""
    yield list(HEADER)
    with transaction() as session:
        offered = session.scalars(OFFERED, {"term": term_id, "section": section_id}).all()
    for start in range(0, len(offered), SECTIONS):
        # Nothing is open while it is sent: whoever takes it may be slow.
        with transaction() as session:
            parameters = {"term": term_id, "sections": list(offered[start : start + SECTIONS])}
            found = session.execute(PEOPLE, parameters).all()
        for row in found:
            yield list(map(str, row[: len(HEADER)]))
