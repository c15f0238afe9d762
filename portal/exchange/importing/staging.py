"""Staging: records of the files in PostgreSQL, resolved and checked as sets.

So a worker's memory does not grow with the files.
"""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from portal.catalog.models import Course, Department, Section, Subject, Term
from portal.exchange.importing.models import SourcedId
from portal.exchange.importing.report import Note, Report, readable_key
from portal.exchange.importing.section_rules import is_plain
from portal.exchange.importing.tables import Row
from portal.exchange.record_sql import INSTRUCTOR_NAME, instructor_part, part, section_part
from portal.exchange.term_records import TermRecords, read_term_records
from portal.ledger.types import DEADLINES

BATCH = 5000  # records
COPY = (
    "COPY import_rows (import_id, kind, key, fields, removes, exported, file, line)"
    " FROM STDIN WITH (FORMAT csv)"
)
PART = "\t"  # between the parts of a key, which contain none
NOWHERE = Row("", 0, {})  # of records that are derived from others


def key_of(*parts: str) -> str:
    return PART.join(parts)


class KnownCourse(NamedTuple):
    """A course that the portal has already."""

    title: str
    credits: tuple[Decimal, Decimal]  # least and most
    department: str  # its code


@dataclass(frozen=True)
class KnownRecords:
    """The records of a term that the portal has already."""

    dates: tuple[date, date] | None = None  # first and last day; None if the term is new
    other_terms: set[str] = field(default_factory=set)  # names without capitals
    term_codes: dict[str, str] = field(default_factory=dict)  # names of terms by codes in files
    sections: set[str] = field(default_factory=set)  # by registration number
    courses: dict[str, KnownCourse] = field(default_factory=dict)  # by code
    departments: set[str] = field(default_factory=set)  # codes
    # Codes of courses, subjects and departments that other terms offer too.
    shared: set[str] = field(default_factory=set)
    records: TermRecords = field(default_factory=TermRecords)
    # Values of restrictions after their kinds: of sections, subjects, departments and students.
    values: set[tuple[str, str]] = field(default_factory=set)
    of_students: dict[str, list[str]] = field(default_factory=dict)  # those of students by kind


@dataclass
class Bases:
    """What an import knows of edits in the portal.

    Of an export's files: records that the portal has like that, or otherwise.
    """

    current: set[str] = field(default_factory=set)  # keys after their kinds
    stale: set[str] = field(default_factory=set)

    def compare(self, kind: str, key: str, revision: str, here: str) -> None:
        """Compare the revision in the files with the portal's, if both have one."""
        if revision and here:
            found = self.current if revision == here else self.stale
            found.add(key_of(kind, key))


@dataclass
class Stage:
    """Stores the records of one import."""

    session: Session
    import_id: int
    # Kinds whose unnamed records are removed.
    unnamed: set[str] = field(default_factory=set)
    bases: Bases = field(default_factory=Bases)
    _waiting: list[tuple[object, ...]] = field(default_factory=list)

    def put(
        self,
        kind: str,
        key: str,
        fields: dict[str, Any],
        row: Row = NOWHERE,
        *,
        removes: bool = False,
    ) -> None:
        """Stage a record with these fields, or its removal; its other fields stay as they are."""
        written = json.dumps(fields)
        exported, place = bool(row["revision"]), (row.file, row.line)
        self._waiting.append((self.import_id, kind, key, written, removes, exported, *place))
        if len(self._waiting) >= BATCH:
            self.finish()

    def known_records(self, term: str) -> "KnownRecords":
        """Return what the portal has of the records of this term."""
        stored = select(Term.starts_on, Term.ends_on).where(Term.name == term)
        others = select(func.lower(Term.name)).where(Term.name != term, Term.deleted_at.is_(None))
        live = Section.deleted_at.is_(None)
        codes = select(SourcedId.sourced_id, SourcedId.key).filter_by(kind="term")
        of_term = select(Section.crn).join(Term).where(Term.name == term, live)
        courses = (
            select(
                *(Course.code, Course.title, Course.credits_min, Course.credits_max),
                Department.code.label("department"),
            )
            .outerjoin(Department, Department.id == Course.department_id)
            .where(Course.deleted_at.is_(None))
        )
        shared = (
            select(Course.code, Subject.code, Department.code)
            .join(Section, Section.course_id == Course.id)
            .join(Term, Term.id == Section.term_id)
            .join(Subject, Subject.id == Course.subject_id)
            .outerjoin(Department, Department.id == Course.department_id)
            .where(Term.name != term, Term.deleted_at.is_(None), live)
            .distinct()
        )
        rows = self.session.execute
        dates = next(((row.starts_on, row.ends_on) for row in rows(stored)), None)
        return KnownRecords(
            dates=dates,
            other_terms=set(self.session.scalars(others)),
            term_codes=dict(rows(codes).all()),
            sections=set(self.session.scalars(of_term)),
            courses={
                row.code: KnownCourse(
                    row.title, (row.credits_min, row.credits_max), row.department or ""
                )
                for row in rows(courses)
            },
            departments=set(self.session.scalars(select(Department.code))),
            shared={code for row in rows(shared) for code in row if code},
            records=read_term_records(self.session, term) if dates else TermRecords(),
            values={
                (kind, value) for kind, value, sure in rows(KNOWN_VALUES) if sure or is_plain(value)
            },
            of_students=dict(rows(OF_STUDENTS).all()),
        )

    def subject_names(self) -> dict[str, str]:
        """Return the names of the portal's subjects by code."""
        return dict(self.session.execute(select(Subject.code, Subject.name)).all())

    def key_of_id(self, kind: str, sourced_id: str) -> str | None:
        """Return the key of the record that earlier files gave this ID."""
        return self.session.scalar(
            select(SourcedId.key).filter_by(kind=kind, sourced_id=sourced_id)
        )

    def finish(self) -> None:
        """Write the records that are still in memory."""
        text = io.StringIO()
        csv.writer(text, quoting=csv.QUOTE_ALL).writerows(self._waiting)
        text.seek(0)
        connection: Any = self.session.connection().connection
        with connection.cursor() as cursor:
            cursor.copy_expert(COPY, text)
        self._waiting.clear()


STUDENT_VALUES = """
    SELECT kind, value FROM (
        SELECT DISTINCT level, year, degree, campus, college FROM students
    ) AS students CROSS JOIN LATERAL (VALUES
        ('level', level), ('classification', year), ('degree', degree), ('campus', campus),
        ('college', college)
    ) AS of_students(kind, value) WHERE value <> ''
"""
# A major that neither a department nor a student has may come from a restriction alone.
REAL_MAJOR = """
    (department_id IS NOT NULL OR id IN (SELECT subject_id FROM student_subjects))
"""
OF_STUDENTS = text(f"""
    WITH found AS ({STUDENT_VALUES}), majors AS (
        SELECT unnest(ARRAY[code, name]) AS value FROM subjects
        WHERE deleted_at IS NULL AND {REAL_MAJOR} AND EXISTS (SELECT FROM student_subjects)
    )
    SELECT kind, array_agg(DISTINCT value ORDER BY value) FROM (
        SELECT kind, value FROM found
        UNION ALL SELECT 'program', value FROM found WHERE kind = 'degree'
        UNION ALL SELECT kind, value FROM majors
            CROSS JOIN unnest(ARRAY['major', 'field_of_study', 'program']) AS kind
    ) AS named GROUP BY kind
""")
# And whether they are sure: others may be lists or sentences that an earlier import misread.
KNOWN_VALUES = text(f"""
    SELECT kind, value, false AS sure FROM restrictions
    UNION SELECT 'major', unnest(ARRAY[code, name]), {REAL_MAJOR} FROM subjects
        WHERE deleted_at IS NULL
    UNION SELECT 'college', school, true FROM departments WHERE deleted_at IS NULL
    UNION SELECT kind, value, true FROM ({STUDENT_VALUES}) AS of_students
""")
# Sections of the terms that the files are about.
OF_TERMS = f"""
    here.fields ->> 'status' <> 'CANCELED' AND {part(1, "here.key")} IN (
        SELECT {part(1)} FROM import_rows WHERE import_id = :id AND kind = 'section'
    )
"""
# Not those that admins made or copied: an export may be older than they are.
OF_FILES = "(here.kind, here.key) IN (SELECT kind, key FROM imported_records WHERE NOT copied)"
# Which records are removed if the files do not name them.
UNNAMED = {
    "section": f"{OF_TERMS} AND {OF_FILES}",
    # Teachers and students of the sections in the files.
    **dict.fromkeys(
        ("teaching", "enrollment"),
        f"""
        {section_part("here.key")} IN (
            SELECT key FROM import_rows
            WHERE import_id = :id AND kind = 'section' AND NOT removes AND fields <> '{{}}'
        )
        """,
    ),
    # People of earlier files. IDs that the portal itself gave do not count.
    "account": """
        EXISTS (
            SELECT FROM sourced_ids AS known WHERE known.kind = 'user' AND known.key = here.key
            AND known.sourced_id <> 'user-' || md5(known.key)
        )
    """,
}
NOT_NAMED = """
    NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE rows.import_id = :id AND rows.kind = here.kind AND rows.key = here.key
    )
"""
STAYING = text(f"""
    SELECT key FROM current_records AS here
    WHERE kind = 'section' AND {OF_TERMS} AND NOT {OF_FILES} AND {NOT_NAMED} ORDER BY key
""")
# Removals of instructors say whom the files name instead.
REMOVE_UNNAMED = """
    INSERT INTO import_rows (import_id, kind, key, fields, removes, exported, file, line)
    SELECT :id, here.kind, here.key,
        CASE here.kind WHEN 'teaching' THEN '{{"instead": ""}}' ELSE '{{}}' END::jsonb, true,
        EXISTS (SELECT FROM import_rows WHERE import_id = :id AND exported), '', 0
    FROM current_records AS here WHERE here.kind = :kind AND {unnamed} AND {not_named}
"""
# Accounts of admins, and the one that imports.
OF_ADMINS = """
    (accounts.is_admin OR accounts.id = (SELECT account_id FROM imports WHERE imports.id = :id))
"""
# Accounts with another role for staff.
OF_STAFF = f"""
    (NOT {OF_ADMINS} AND (accounts.staff_roles <> '{{}}' OR accounts.schedules_for <> '{{}}'))
"""
# A new mail address could recover the password.
RENAMES = """
    (accounts.name <> rows.fields ->> 'name' OR accounts.email <> rows.fields ->> 'email')
"""
# Rows that would remove, restore or rename an account of an admin, or remove one of other staff
# because no file names it.
PROTECTED = f"""
    (
        {OF_ADMINS} AND (rows.removes OR accounts.deleted_at IS NOT NULL OR {RENAMES})
        OR {OF_STAFF} AND rows.removes AND rows.file = ''
    )
"""


def remove_unnamed(session: Session, import_id: int, kinds: Iterable[str], report: Report) -> None:
    """Stage the removal of records of those kinds that the files don't name.

    Report sections that stay all the same.
    """
    this = {"id": import_id}
    for kind in sorted(kinds):
        query = text(REMOVE_UNNAMED.format(unnamed=UNNAMED[kind], not_named=NOT_NAMED))
        session.execute(query, this | {"kind": kind})
        for key in session.scalars(STAYING, this) if kind == "section" else ():
            report.add(Note("not_removed", key=readable_key(key)))


def refuse_protected(session: Session, import_id: int, report: Report, *, people: bool) -> None:
    """Refuse to remove sections with students or waitlists, and to change admins and staff."""
    of_sections = ("late_deadline", "taken")
    for reason in ("staff_name", *of_sections, "admin") if people else of_sections:
        _refuse(session, import_id, reason, report)


# What IDs mean: as these files say, otherwise as earlier files did.
KNOWN_IDS = text(f"""
    CREATE TEMP TABLE known_ids ON COMMIT DROP AS
    SELECT DISTINCT ON (kind, sourced_id) kind, sourced_id, key FROM (
        SELECT {part(1)} AS kind, {part(2)} AS sourced_id, fields ->> 'key' AS key, 0 AS rank
        FROM import_rows WHERE import_id = :id AND kind = 'source'
        UNION ALL SELECT kind, sourced_id, key, 1 FROM sourced_ids
    ) AS named ORDER BY kind, sourced_id, rank
""")
INDEX_IDS = text("CREATE INDEX ON known_ids (kind, sourced_id)")
# In the order of the files: if there are too many students, the last are refused.
RESOLVE_ENROLLMENTS = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, CASE rows.fields ->> 'role' WHEN 'teacher' THEN 'teaching' ELSE 'enrollment' END,
        classes.key || E'\\t' || CASE rows.fields ->> 'role'
            WHEN 'teacher' THEN '@' || people.key ELSE people.key END,
        CASE rows.fields ->> 'role' WHEN 'teacher' THEN '{}'
            ELSE rows.fields - '{class,user,role}'::text[] END,
        rows.removes, rows.file, rows.line
    FROM import_rows AS rows
    JOIN known_ids AS classes
        ON classes.kind = 'class' AND classes.sourced_id = rows.fields ->> 'class'
    JOIN known_ids AS people ON people.sourced_id = rows.fields ->> 'user' AND people.kind =
        CASE rows.fields ->> 'role' WHEN 'teacher' THEN 'user' ELSE 'student' END
    WHERE rows.import_id = :id AND rows.kind = 'by_id'
    ORDER BY rows.id
""")
RESOLVE_REMOVALS = text("""
    INSERT INTO import_rows (import_id, kind, key, fields, removes, file, line)
    SELECT :id, CASE known_ids.kind WHEN 'class' THEN 'section' ELSE 'account' END, known_ids.key,
        '{}', true, rows.file, rows.line
    FROM import_rows AS rows
    JOIN known_ids ON known_ids.kind || E'\\t' || sourced_id = rows.key
    WHERE rows.import_id = :id AND rows.kind = 'id_removal'
""")
DELETE_UNRESOLVED = text(
    "DELETE FROM import_rows WHERE import_id = :id AND kind IN ('by_id', 'id_removal')"
)
INSTRUCTOR = instructor_part("rows.key")
# Teachers with an account that was linked after earlier files, by their names in files.
LINKED_NAMES = f"""
    SELECT {INSTRUCTOR_NAME} AS name, min(key) AS key
    FROM instructor_keys JOIN instructors USING (id)
    LEFT JOIN departments ON departments.id = department_id
    WHERE starts_with(key, '@') GROUP BY 1 HAVING count(*) = 1
"""
# They keep the classes that they teach. A matching name does not give them another class.
USE_LINKED = text(f"""
    UPDATE import_rows AS rows SET key = current_records.key
    FROM ({LINKED_NAMES}) AS linked JOIN current_records ON current_records.kind = 'teaching'
        AND right(current_records.key, length(linked.key) + 1) = E'\\t' || linked.key
    WHERE import_id = :id AND rows.kind = 'teaching' AND {INSTRUCTOR} = name
    AND rows.key = left(current_records.key, -length(linked.key)) || name
""")
DELETE_IDLE = text(f"""
    DELETE FROM import_rows AS rows USING ({LINKED_NAMES}) AS linked
    WHERE import_id = :id AND kind = 'teacher' AND rows.key = name AND NOT EXISTS (
        SELECT FROM import_rows AS rows
        WHERE import_id = :id AND kind = 'teaching' AND {INSTRUCTOR} = name
    ) AND NOT EXISTS (SELECT FROM instructor_keys AS known WHERE known.key = name)
""")
# Instructors without an account, where someone with an account has the same name.
NAMESAKES = text(f"""
    SELECT DISTINCT ON (1) split_part({INSTRUCTOR}, E'\\t', 1) AS name, rows.file, rows.line
    FROM import_rows AS rows
    WHERE import_id = :id AND kind = 'teaching' AND NOT removes
    AND NOT starts_with({INSTRUCTOR}, '@') AND lower(split_part({INSTRUCTOR}, E'\\t', 1)) IN (
        SELECT unnest(ARRAY[lower(instructors.name), lower(accounts.name)])
        FROM instructors JOIN accounts ON accounts.id = account_id
        WHERE instructors.deleted_at IS NULL
    )
    ORDER BY name, file, line
""")
# A new class without seats in the files gets as many as it has students.
OPEN_CLASSES = text(f"""
    UPDATE import_rows AS rows
    SET fields = fields || jsonb_build_object('status', 'OPEN', 'capacity', taken)
    FROM (
        SELECT {section_part()} AS section, count(DISTINCT key) AS taken FROM import_rows
        WHERE import_id = :id AND kind = 'enrollment' AND NOT removes GROUP BY 1
    ) AS seats
    WHERE import_id = :id AND kind = 'section' AND key = section AND NOT removes
    AND NOT fields ?| ARRAY['status', 'capacity'] AND NOT EXISTS (
        SELECT FROM current_records AS here WHERE here.kind = 'section' AND here.key = rows.key
    )
""")
# Rows whose ID is known from earlier files, by what differs.
OF_KNOWN_ID = """
    DELETE FROM import_rows AS rows USING import_rows AS source, sourced_ids AS known
    WHERE rows.import_id = :id AND source.import_id = :id AND source.kind = 'source'
    AND source.key = known.kind || E'\\t' || known.sourced_id AND {differs}
    AND rows.file = source.file AND rows.line = source.line
    RETURNING rows.key, rows.file, rows.line
"""


def _deadline(name: str) -> str:
    """Return the SQL of a deadline of a term as the files leave it."""
    stated = f"fields ->> '{name}'"
    return f"CASE WHEN fields ? '{name}' THEN ({stated})::date ELSE terms.{name} END"


OLDER = "(source.fields ->> 'modified')::timestamptz < known.modified::timestamptz"
# Each refuses rows for one reason, which is a kind of finding.
REFUSALS = {
    "older": OF_KNOWN_ID.format(differs=OLDER),
    "renamed": OF_KNOWN_ID.format(differs="source.fields ->> 'key' <> known.key"),
    # With the other records of its line in the files.
    "admin": f"""
        DELETE FROM import_rows AS every USING import_rows AS rows
        JOIN accounts ON accounts.username = rows.key
        WHERE rows.import_id = :id AND rows.kind = 'account' AND {PROTECTED}
        AND every.import_id = :id AND (
            every.id = rows.id
            OR rows.line > 0 AND every.file = rows.file AND every.line = rows.line
        ) RETURNING every.key, every.file, every.line
    """,
    "taken": """
        DELETE FROM import_rows
        WHERE import_id = :id AND kind = 'section' AND removes AND key IN (
            SELECT terms.name || E'\\t' || crn
            FROM sections JOIN terms ON terms.id = sections.term_id
            LEFT JOIN section_seats ON section_id = sections.id
            WHERE prior_enrolled > 0 OR enrolled > 0 OR waiting > 0
        ) RETURNING key, file, line
    """,
    # Terms that would end earlier, and before a deadline.
    "late_deadline": f"""
        DELETE FROM import_rows AS rows USING terms
        WHERE import_id = :id AND kind = 'term' AND key = terms.name
        AND (fields ->> 'ends')::date < terms.ends_on
        AND (fields ->> 'ends')::date < greatest({", ".join(map(_deadline, DEADLINES))})
        RETURNING key, file, line
    """,
    # The rest of the row is imported, as without an adviser.
    "staff_name": f"""
        UPDATE import_rows AS rows SET fields = fields - '{{name,email}}'::text[] FROM accounts
        WHERE import_id = :id AND kind = 'account' AND key = username AND {OF_STAFF} AND {RENAMES}
        RETURNING key, file, line
    """,
    "no_adviser": """
        UPDATE import_rows AS rows SET fields = fields - 'adviser'
        WHERE import_id = :id AND kind = 'student' AND fields ->> 'adviser' IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM accounts LEFT JOIN students ON adviser_id = accounts.id AND number = key
            WHERE username = fields ->> 'adviser'
            AND username IS DISTINCT FROM fields ->> 'account' AND (
                accounts.deleted_at IS NULL AND deactivated_at IS NULL
                AND 'adviser' = ANY(staff_roles)
                OR number IS NOT NULL
            )
        ) RETURNING key, file, line
    """,
    "other_student": """
        DELETE FROM import_rows AS rows USING (
            SELECT id, first_value(key) OVER (
                PARTITION BY fields ->> 'account' ORDER BY id
            ) AS first FROM import_rows WHERE import_id = :id AND kind = 'student'
        ) AS named
        WHERE rows.id = named.id AND key <> coalesce((
            SELECT number FROM students JOIN accounts ON accounts.id = account_id
            WHERE username = fields ->> 'account'
        ), first) RETURNING key, file, line
    """,
    "no_such": f"""
        DELETE FROM import_rows AS rows WHERE import_id = :id AND (
            kind = 'by_id' AND NOT EXISTS (
                SELECT FROM import_rows AS placed WHERE placed.import_id = :id
                AND placed.kind IN ('teaching', 'enrollment')
                AND placed.file = rows.file AND placed.line = rows.line
            ) OR kind = 'teaching' AND NOT removes AND NOT (
                EXISTS (
                    SELECT FROM import_rows AS teacher WHERE teacher.import_id = :id
                    AND teacher.kind = 'teacher' AND teacher.key = {INSTRUCTOR}
                ) OR EXISTS (
                    SELECT FROM current_records WHERE current_records.kind = 'teacher'
                    AND current_records.key = {INSTRUCTOR}
                )
            )
        ) RETURNING key, file, line
    """,
}


def resolve(session: Session, import_id: int, report: Report, *, people: bool) -> None:
    """Resolve IDs to keys, and refuse rows that are not possible, each with its reason."""
    this = {"id": import_id}
    session.execute(text("ANALYZE import_rows, sourced_ids"))
    if people:
        for reason in ("older", "renamed"):
            _refuse(session, import_id, reason, report)
        for statement in (KNOWN_IDS, INDEX_IDS, RESOLVE_ENROLLMENTS, RESOLVE_REMOVALS):
            session.execute(statement, this)
        for reason in ("admin", "staff_name", "no_adviser", "other_student"):
            _refuse(session, import_id, reason, report)
    for statement in (USE_LINKED, DELETE_IDLE):
        session.execute(statement, this)
    _refuse(session, import_id, "no_such", report)
    session.execute(DELETE_UNRESOLVED, this)


def note_namesakes(session: Session, import_id: int, report: Report) -> None:
    """Report instructors without an account who have the name of someone with an account."""
    for name, file, line in session.execute(NAMESAKES, {"id": import_id}):
        report.add(Note("namesake", file, line, name, "instructors", name))


def _refuse(session: Session, import_id: int, reason: str, report: Report) -> None:
    seen = set()
    for row in session.execute(text(REFUSALS[reason]), {"id": import_id}):
        if not row.line or (row.file, row.line) not in seen:
            report.note(reason, row)
        seen.add((row.file, row.line))
