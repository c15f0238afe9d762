"""The kinds of records that imports compare and write: one table of them all."""

from dataclasses import replace
from typing import Any

from sqlalchemy import CursorResult, text
from sqlalchemy.orm import Session

from portal.catalog.record_details import RecordField
from portal.catalog.section_fields import PLAIN
from portal.catalog.term_fields import TERM_RULES, TermRule
from portal.core.i18n import _k
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.record_sql import (
    CHANGED,
    INSTRUCTOR_NAME,
    REMOVED,
    Child,
    Field,
    Kind,
    part,
    section_part,
)
from portal.people.student_fields import StudentDetails


def _by_column(table: str, column: str, *fields_: Field, **more: Any) -> Kind:
    """Return a kind whose key stands in one column."""
    return Kind(table, f"{table}.{column}", {column: "key"}, fields_, **more)


def _reference(table: str, name: str, known: str, *, required: bool = False) -> Field:
    """Return a field that is the column `known` of the record that `table` refers to."""
    other, join = known.partition(".")[0], "JOIN" if required else "LEFT JOIN"
    read = f"{join} {other} ON {other}.id = {table}.{name}_id"
    write = f"{join} {other} ON {known} = after ->> '{name}'"
    return Field(name, read=known, columns={f"{name}_id": f"{other}.id"}, joins=(read, write))


def _plain(each: RecordField, default: str = "") -> Field:
    """Return a field of a table that describes what an admin may set."""
    return Field(each.name, default, each.column)


def _department(table: str, *, required: bool = False) -> Field:
    return _reference(table, "department", "departments.code", required=required)


def _credits(table: str, least: str, most: str) -> Field:
    return Field(
        "credits",
        read="jsonb_build_array("
        f"({table}.credits_min * 100)::int, ({table}.credits_max * 100)::int)",
        columns={
            "credits_min": f"coalesce((after -> 'credits' ->> 0)::int / 100.0, {least})",
            "credits_max": f"coalesce((after -> 'credits' ->> 1)::int / 100.0, {most})",
        },
    )


def _rule(rule: TermRule) -> Field:
    """Return the field of a term's rule; a list of codes needs no default."""
    return Field(rule.name, "NULL" if rule.optional else str(rule.default))


def _subjects(kind: str) -> Child:
    return Child(
        f"{kind}s",
        "student_subjects",
        "student_id",
        ("subject_id",),
        references={"subject_id": ("subjects.code", "subjects.id")},
        joins=(
            "JOIN subjects ON subjects.id = subject_id",
            "JOIN subjects ON subjects.code = item #>> '{}'",
        ),
        fixed=("kind", f"'{kind}'"),
    )


COMPLETED = ("course_code", "term_name", "grade", "credits")
MEETING = ("kind", "days", "starts_at", "ends_at", "date_start", "date_end", "room_id", "clashes")
# The number is the key.
STUDENT_FIELDS = [each for each in StudentDetails.plain_fields() if each.name != "number"]
SECTION_DEFAULTS = {"number": "'01'", "title": "courses.title", "capacity": "0"}
OF_TERM = "JOIN terms ON terms.id = term_id", f"JOIN terms ON terms.name = {part(1)}"
RESTORED = "deleted_at = NULL"
# Rooms must be there before meetings refer to them.
ADD_ROOMS = f"""
    INSERT INTO rooms (name)
    SELECT DISTINCT meeting ->> 6
    FROM {CHANGED}, jsonb_array_elements(after -> 'meetings') AS meeting
    WHERE meeting ->> 6 <> ''
    ON CONFLICT (name) DO UPDATE SET deleted_at = NULL WHERE rooms.deleted_at IS NOT NULL
"""
# Each section carries its pool to the ledger.
RENEW_SECTIONS_OF_POOLS = f"""
    UPDATE sections SET version = sections.version + 1
    FROM {CHANGED} JOIN terms ON terms.name = {part(1)}
    JOIN pools ON pools.term_id = terms.id AND pools.name = {part(2)}
    WHERE pool_id = pools.id
"""
RENEW_POOLS_OF_SECTIONS = f"""
    UPDATE pools SET version = pools.version + 1
    FROM (
        SELECT DISTINCT terms.id AS term_id, either.name
        FROM {CHANGED} JOIN terms ON terms.name = {part(1)}
        CROSS JOIN LATERAL (VALUES (before ->> 'pool'), (after ->> 'pool')) AS either(name)
        WHERE before ->> 'pool' IS DISTINCT FROM after ->> 'pool'
    ) AS moved
    WHERE pools.term_id = moved.term_id AND pools.name = moved.name
"""
# Seats that are reserved for the same students as before keep their id: the ledger counts by it.
WRITE_RESERVES = f"""
    WITH wanted AS (
        SELECT section_keys.id AS section_id, position, reserve -> 1 AS cohort,
            (reserve ->> 0)::int AS seats, (reserve ->> 2)::timestamptz AS until,
            row_number() OVER (PARTITION BY section_keys.id, reserve -> 1 ORDER BY position) AS nth
        FROM {CHANGED} JOIN section_keys USING (key)
        CROSS JOIN jsonb_array_elements(after -> 'reserves')
            WITH ORDINALITY AS listed(reserve, position)
        WHERE before -> 'reserves' IS DISTINCT FROM after -> 'reserves'
    ), known AS (
        SELECT reserves.id, section_id, cohort, row_number() OVER (
            PARTITION BY section_id, cohort ORDER BY position, reserves.id
        ) AS nth
        FROM reserves JOIN section_keys ON section_keys.id = section_id
        JOIN {CHANGED} USING (key)
        WHERE before -> 'reserves' IS DISTINCT FROM after -> 'reserves'
    ), same AS (
        SELECT * FROM known JOIN wanted USING (section_id, cohort, nth)
    ), removed AS (
        DELETE FROM reserves USING known
        WHERE reserves.id = known.id AND known.id NOT IN (SELECT id FROM same)
    ), changed AS (
        UPDATE reserves SET position = same.position, seats = same.seats, until = same.until
        FROM same WHERE reserves.id = same.id
    )
    INSERT INTO reserves (section_id, position, seats, cohort, until)
    SELECT section_id, position, seats, cohort, until FROM wanted
    WHERE (section_id, cohort, nth) NOT IN (SELECT section_id, cohort, nth FROM same)
"""
RESERVES = """(
    SELECT coalesce(jsonb_agg(jsonb_build_array(
        seats, cohort, to_char(until AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
    ) ORDER BY position, id), '[]') FROM reserves WHERE section_id = sections.id
)"""

# No kind refers to a later one.
KINDS = {
    "department": _by_column("departments", "code", Field("name", "key"), Field("school")),
    "subject": _by_column(
        "subjects",
        "code",
        Field("name", "key", new_only=True),
        replace(_department("subjects"), new_only=True),
    ),
    "course": _by_column(
        "courses",
        "code",
        _reference("courses", "subject", "subjects.code", required=True),
        _department("courses", required=True),
        Field("title", "key"),
        Field("description"),
        Field("offered"),
        Field("categories"),
        _credits("courses", "0", "0"),
        new={"public": "true", "levels": "'{}'", "years": "'{}'"},
    ),
    "term": _by_column(
        "terms",
        "name",
        Field("starts", "NULL", "starts_on"),
        Field("ends", "NULL", "ends_on"),
        *map(_rule, TERM_RULES.values()),
        Field(
            "bands",
            read="terms.bands",
            columns={"bands": "coalesce(nullif(after -> 'bands', 'null'), '[]')"},
            new_only=True,
        ),
        new={"catalog_version": "1"},
    ),
    "account": _by_column(
        "accounts",
        "username",
        Field("name"),
        Field("email"),
        new={"password_hash": "''", "is_admin": "false", "session_epoch": "1"},
        removal=f"""
            WITH advisees AS (
                UPDATE students SET adviser_id = NULL FROM accounts, {REMOVED}
                WHERE accounts.id = adviser_id AND username = removed_rows.key AND NOT is_admin
            )
            UPDATE accounts SET deleted_at = now(), session_epoch = session_epoch + 1,
                staff_roles = '{{}}', schedules_for = '{{}}'
            FROM {REMOVED} WHERE accounts.username = removed_rows.key AND NOT is_admin
        """,
    ),
    "student": _by_column(
        "students",
        "number",
        _reference("students", "account", "accounts.username", required=True),
        _department("students"),
        *map(_plain, STUDENT_FIELDS),
        Field("private"),
        Field(
            "adviser",
            read="advisers.username",
            columns={"adviser_id": "advisers.id"},
            joins=(
                "LEFT JOIN accounts AS advisers ON advisers.id = students.adviser_id",
                "LEFT JOIN accounts AS advisers ON advisers.username = after ->> 'adviser'",
            ),
        ),
        children=(
            _subjects("major"),
            _subjects("minor"),
            Child("completed", "completed_courses", "student_id", COMPLETED, if_changed=True),
        ),
    ),
    "teacher": Kind(
        "instructors",
        key="keys.key",
        keys={"id": "coalesce(known.id, nextval(pg_get_serial_sequence('instructors', 'id')))"},
        fields=(
            Field("name"),
            Field("email"),
            _department("instructors"),
            Field(
                "account",
                read="CASE WHEN starts_with(keys.key, '@') THEN username END",
                columns={"account_id": "accounts.id"},
                joins=(
                    "LEFT JOIN accounts ON accounts.id = instructors.account_id",
                    "LEFT JOIN accounts ON accounts.username = after ->> 'account'",
                ),
                insert_only=True,
            ),
        ),
        joins=(
            "JOIN instructor_keys AS keys USING (id)",
            "LEFT JOIN instructor_keys AS known USING (key)",
        ),
        new={"title": "''"},
        update="",
    ),
    "pool": Kind(
        "pools",
        key="terms.name || E'\\t' || pools.name",
        keys={"term_id": "terms.id", "name": part(2)},
        fields=(Field("capacity"),),
        joins=OF_TERM,
        living="terms.deleted_at IS NULL",
        new={"version": "1"},
        update="version = pools.version + 1",
        then=(RENEW_SECTIONS_OF_POOLS,),
    ),
    "section": Kind(
        "sections",
        key="terms.name || E'\\t' || sections.crn",
        keys={"term_id": "terms.id", "crn": part(2)},
        fields=(
            _reference("sections", "course", "courses.code", required=True),
            *(_plain(each, SECTION_DEFAULTS.get(each.name, "")) for each in PLAIN),
            _credits("sections", "courses.credits_min", "courses.credits_max"),
            Field("prior", column="prior_enrolled", new_only=True, insert_only=True),
            Field("status", new_only=True),
            Field(
                "pool",
                read="pools.name",
                columns={"pool_id": "pools.id"},
                joins=(
                    "LEFT JOIN pools ON pools.id = sections.pool_id",
                    "LEFT JOIN pools ON pools.term_id = terms.id AND pools.name = after ->> 'pool'",
                ),
            ),
            Field("reserves", read=RESERVES),
        ),
        children=(
            Child(
                "meetings",
                "meetings",
                "section_id",
                MEETING,
                references={"room_id": ("coalesce(rooms.name, '')", "rooms.id")},
                joins=(
                    "LEFT JOIN rooms ON rooms.id = room_id",
                    "LEFT JOIN rooms ON rooms.name = item ->> 6",
                ),
                position=True,
                first=ADD_ROOMS,
            ),
            Child("restrictions", "restrictions", "section_id", ("rule", "kind", "value")),
            Child("cross_lists", "cross_lists", "section_id", ("course_code",)),
        ),
        joins=OF_TERM,
        living="sections.deleted_at IS NULL AND terms.deleted_at IS NULL",
        new={"version": "1"},
        update=f"version = sections.version + 1, {RESTORED}",
        then=(RENEW_POOLS_OF_SECTIONS, WRITE_RESERVES),
        removal=f"""
            UPDATE sections SET status = 'CANCELED', version = version + 1
            FROM {REMOVED} JOIN section_keys USING (key)
            WHERE sections.id = section_keys.id
        """,
    ),
    "teaching": Kind(
        "section_instructors",
        key="section_keys.key || E'\\t' || keys.key",
        keys={"section_id": "section_keys.id", "instructor_id": "keys.id"},
        joins=(
            """
            JOIN section_keys ON section_keys.id = section_id
            JOIN sections ON sections.id = section_id AND sections.deleted_at IS NULL
            JOIN instructor_keys AS keys ON keys.id = instructor_id
            """,
            f"""
            JOIN section_keys ON section_keys.key = {section_part("changed_rows.key")}
            JOIN instructor_keys AS keys
                ON section_keys.key || E'\\t' || keys.key = changed_rows.key
            """,
        ),
        living="true",
        update="section_id = excluded.section_id",  # a restored section still has its teachers
        removal=f"""
            DELETE FROM section_instructors USING {REMOVED}
            JOIN section_keys ON section_keys.key = {section_part("removed_rows.key")}
            JOIN instructor_keys AS keys
                ON section_keys.key || E'\\t' || keys.key = removed_rows.key
            WHERE section_id = section_keys.id AND instructor_id = keys.id
        """,
    ),
    # Apart from the section's fields, because each change is an act of its own.
    "status": Kind(
        "sections",
        key="terms.name || E'\\t' || sections.crn",
        keys={},
        fields=(Field("status"),),
        joins=OF_TERM,
        living="sections.deleted_at IS NULL AND terms.deleted_at IS NULL",
        update="",
    ),
    # The ledger decides changes of these.
    "enrollment": Kind(
        "enrollments",
        key="section_keys.key || E'\\t' || students.number",
        keys={},
        fields=(Field("credits", new_only=True, read="enrollments.credits"),),
        joins=(
            """
            JOIN section_keys ON section_keys.id = section_id
            JOIN students ON students.id = student_id
            """,
            "",
        ),
        living="state = 'enrolled'",
    ),
    "source": Kind(
        "sourced_ids",
        key="kind || E'\\t' || sourced_id",
        keys={"kind": part(1), "sourced_id": part(2)},
        fields=(Field("key"), Field("modified")),
        living="true",
        update="",
    ),
}

SECTION_KEYS = """
    SELECT terms.name || E'\\t' || crn AS key, sections.id
    FROM sections JOIN terms ON terms.id = sections.term_id WHERE terms.deleted_at IS NULL
"""
# The key of a teacher is the name and department, which no two should share. The first teacher of
# an account has that account as the key.
INSTRUCTOR_KEYS = f"""
    SELECT DISTINCT ON (key) key, id FROM (
        SELECT instructors.id, CASE
            WHEN instructors.id = min(instructors.id) OVER (PARTITION BY accounts.id)
                AND accounts.id IS NOT NULL THEN '@' || accounts.username
            ELSE {INSTRUCTOR_NAME}
        END AS key
        FROM instructors
        LEFT JOIN accounts ON accounts.id = instructors.account_id
        LEFT JOIN departments ON departments.id = instructors.department_id
        WHERE instructors.deleted_at IS NULL
    ) AS named ORDER BY key, id
"""


OF_PEOPLE = {"account", "student", "enrollment"}
KEYS = {"instructor_keys": INSTRUCTOR_KEYS, "section_keys": SECTION_KEYS}
# The keys that new or restored records of a kind add to.
NEW_KEYS = {"teacher": "instructor_keys", "term": "section_keys", "section": "section_keys"}
TABLE_ID = text("SELECT to_regclass(:table)")


def read_keys(session: Session) -> None:
    """Read the current keys of teachers and sections into temporary tables."""
    for table, query in KEYS.items():
        fill(session, table, query)


def read_current(session: Session, *, people: bool) -> None:
    """Read the records of the portal into the temporary table `current_records`.

    Deleted records, which can be restored, are in `deleted_records`. Those OF_PEOPLE are read only
    if the import is about `people`: they are the most.
    """
    read_keys(session)
    kinds = {name: each for name, each in KINDS.items() if people or name not in OF_PEOPLE}
    deleted = {name: kind.select_deleted for name, kind in kinds.items() if kind.restorable}
    fill(session, "deleted_records", _union(deleted))
    fill(session, "current_records", _union({name: each.select for name, each in kinds.items()}))
    session.execute(text("CREATE INDEX ON current_records (kind, key)"))
    session.execute(text("ANALYZE current_records"))


def _union(queries: dict[str, str]) -> str:
    every = (
        f"SELECT '{kind}' AS kind, found.* FROM ({each}) AS found" for kind, each in queries.items()
    )
    return " UNION ALL ".join(every)


def fill(session: Session, table: str, query: str) -> None:
    """Put the rows of a query into a temporary table, which lasts until the transaction ends.

    A later call empties the table, because that takes a fifth of the time of making it again.
    """
    if session.scalar(TABLE_ID, {"table": f"pg_temp.{table}"}):
        session.execute(text(f"TRUNCATE {table}"))
        into = f"INSERT INTO {table}"
    else:
        into = f"CREATE TEMP TABLE {table} ON COMMIT DROP AS"
    session.execute(text(f"{into} {query}"))


def write_records(
    session: Session, import_id: int, kind: str, *, written: int, removed: int
) -> None:
    """Write and remove the records of a kind that an import changes.

    Raise ImportFailedError if one can't be written.
    """
    this = {"id": import_id, "kind": kind}
    if written:
        result = session.execute(text(KINDS[kind].upsert), this)
        if isinstance(result, CursorResult) and result.rowcount != written:
            raise ImportFailedError(
                _k("%(lost)s of %(count)s records (%(kind)s) could not be stored."),
                lost=written - result.rowcount,
                count=written,
                kind=kind,
            )
        if table := NEW_KEYS.get(kind):
            fill(session, table, KEYS[table])
        for statement in KINDS[kind].statements():
            session.execute(text(statement), this)
    if removed and KINDS[kind].removal:
        session.execute(text(KINDS[kind].removal), this)
