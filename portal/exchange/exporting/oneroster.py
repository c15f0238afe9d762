"""Everything as a OneRoster 1.2 zip. Importing it again changes nothing."""

import csv
import io
import json
import zipfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, BinaryIO

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.core.db import Sessions, transaction
from portal.exchange.importing.oneroster import COLUMNS
from portal.exchange.importing.oneroster_fields import METADATA
from portal.exchange.importing.runs import NO_TIMEOUTS
from portal.exchange.record_sql import part, section_part
from portal.exchange.records import KINDS, read_keys
from portal.exchange.spreadsheets import plain

Cells = dict[str, Any]
# Files of the standard that an export does not have.
ABSENT = (
    *("categories", "classResources", "courseResources", "demographics"),
    *("lineItemLearningObjectiveIds", "lineItems", "lineItemScoreScales", "resources"),
    *("resultLearningObjectiveIds", "results", "resultScoreScales", "scoreScales"),
    *("userProfiles", "userResources"),
)

# An ID for each record that no source has named: the same for as long as it is there.
NEW_IDS = """
    INSERT INTO sourced_ids (kind, sourced_id, key)
    SELECT kind, kind || '-' || md5(key), key FROM (
        SELECT 'org' AS kind, code AS key FROM departments WHERE deleted_at IS NULL
        UNION ALL SELECT 'subject', code FROM subjects WHERE deleted_at IS NULL
        UNION ALL SELECT 'session', name FROM terms WHERE deleted_at IS NULL
        UNION ALL SELECT 'course', code FROM courses WHERE deleted_at IS NULL
        UNION ALL SELECT 'class', section_keys.key FROM section_keys
            JOIN sections USING (id) WHERE deleted_at IS NULL
        UNION ALL SELECT 'user', username FROM accounts WHERE deleted_at IS NULL AND (
            EXISTS (SELECT FROM students WHERE account_id = accounts.id)
            OR EXISTS (SELECT FROM instructors WHERE account_id = accounts.id)
        )
    ) AS here
    WHERE NOT EXISTS (
        SELECT FROM sourced_ids AS known WHERE known.kind = here.kind AND known.key = here.key
    )
    ON CONFLICT DO NOTHING
"""
# A student has the ID of the user.
NEW_IDS_OF_STUDENTS = """
    INSERT INTO sourced_ids (kind, sourced_id, key)
    SELECT 'student', known.sourced_id, number
    FROM students JOIN accounts ON accounts.id = account_id
    JOIN sourced_ids AS known ON known.kind = 'user' AND known.key = username
    WHERE students.deleted_at IS NULL AND accounts.deleted_at IS NULL
    ON CONFLICT (kind, sourced_id) DO NOTHING
"""


def write_oneroster(out: BinaryIO) -> None:
    """Write the zip, all of it as of one moment."""
    with transaction() as session:  # so that other requests do not wait until the zip is made
        _assign_ids(session)
    with transaction() as session:
        session.execute(text("ANALYZE sourced_ids"))
    with Sessions.begin() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        _assign_ids(session)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("manifest.csv", _manifest())
            for file, read in FILES.items():
                with packed.open(f"{file}.csv", "w") as entry:
                    _write(entry, [*COLUMNS[file].split(), METADATA], read(session))


def _assign_ids(session: Session) -> None:
    """Give an ID to every record that has none yet."""
    session.execute(text(NO_TIMEOUTS))
    read_keys(session)
    session.execute(text("ANALYZE section_keys, instructor_keys"))
    for statement in (NEW_IDS, NEW_IDS_OF_STUDENTS):
        session.execute(text(statement))


def _write(entry: Any, columns: list[str], cells: Iterator[Cells]) -> None:
    with io.TextIOWrapper(entry, "utf-8", newline="") as written:
        writer = csv.writer(written)
        writer.writerow(columns)
        for each in cells:
            if more := each.get(METADATA):
                each[METADATA] = json.dumps(more, ensure_ascii=False, sort_keys=True)
            writer.writerow([plain(each.get(column) or "") for column in columns])


def _manifest() -> str:
    properties = {"manifest.version": "1.0", "oneroster.version": "1.2"}
    modes = dict.fromkeys(FILES, "bulk") | dict.fromkeys(ABSENT, "absent")
    properties |= {f"file.{file}": modes[file] for file in sorted(modes, key=str.lower)}
    properties |= {"source.systemName": "Fairseat", "source.systemCode": "fairseat"}
    return "propertyName,value\r\n" + "".join(
        f"{each},{properties[each]}\r\n" for each in properties
    )


# The rows of OneRoster's files, out of the records that imports are compared with.

BATCH = 2000
ROOT = "school"  # the org above all, where a department has no other
DATES = {"starts", "ends"}
JULY = 7  # a school year ends by it

SORTED = 'SELECT key, fields FROM ({records}) AS here ORDER BY key COLLATE "C"'
NAMES = "SELECT key, sourced_id FROM sourced_ids WHERE kind = :kind"
NAMED = """
    SELECT here.key, here.fields, known.sourced_id FROM ({records}) AS here
    JOIN sourced_ids AS known ON known.kind = :kind AND known.key = here.key
    ORDER BY here.key COLLATE "C"
"""
USERS = """
    WITH student AS MATERIALIZED (
        SELECT *, fields ->> 'account' AS username FROM ({students}) AS here
    ), teacher AS MATERIALIZED (
        SELECT *, substr(key, 2) AS username FROM ({instructors}) AS here
        WHERE starts_with(key, '@')
    )
    SELECT username, accounts.name, accounts.email, sourced_id, student.key AS number,
        student.fields AS student, teacher.fields AS teacher
    FROM accounts JOIN sourced_ids AS known ON known.kind = 'user' AND known.key = username
    LEFT JOIN student USING (username)
    LEFT JOIN teacher USING (username)
    WHERE accounts.deleted_at IS NULL AND (student.key IS NOT NULL OR teacher.key IS NOT NULL)
    ORDER BY username COLLATE "C"
"""
ENROLLED = f"""
    SELECT here.key, fields, classes.sourced_id AS class_, people.sourced_id AS user_, :role AS role
    FROM ({{records}}) AS here
    JOIN sourced_ids AS classes
        ON classes.kind = 'class' AND classes.key = {section_part("here.key")}
    JOIN sourced_ids AS people
        ON people.kind = :kind AND people.key = ltrim({part(3, "here.key")}, :mark)
    WHERE starts_with({part(3, "here.key")}, :mark)
    ORDER BY here.key COLLATE "C"
"""


def orgs(session: Session) -> Iterator[Cells]:
    """Schools first, as departments refer to them; subjects last."""
    yield {"sourcedId": ROOT, "name": "University", "type": "school"}
    departments = list(_named(session, "department", "org"))
    for school in sorted({row.fields["school"] for row in departments} - {""}):
        yield {"sourcedId": _school(school), "name": school, "type": "school"}
    for row in departments:
        yield _org(row, _school(row.fields["school"]))
    for row in _named(session, "subject", "subject"):
        yield _org(row, ROOT) | {METADATA: {"subject": row.fields["department"]}}


def sessions(session: Session) -> Iterator[Cells]:
    """Yield the terms."""
    for row in _named(session, "term", "session"):
        ends = date.fromisoformat(row.fields["ends"])
        yield {
            "sourcedId": row.sourced_id,
            "title": row.key,
            "type": "semester",
            "startDate": row.fields["starts"],
            "endDate": row.fields["ends"],
            "schoolYear": ends.year + (ends.month > JULY),
            METADATA: {name: row.fields[name] for name in row.fields if name not in DATES},
        }


def courses(session: Session) -> Iterator[Cells]:
    departments = _names(session, "org")
    for row in _named(session, "course", "course"):
        title = row.fields.pop("title")
        yield {
            "sourcedId": row.sourced_id,
            "title": title,
            "courseCode": row.key,
            "orgSourcedId": departments[row.fields["department"]],
            METADATA: row.fields,
        }


def classes(session: Session) -> Iterator[Cells]:
    """Yield sections, with the instructors who have no account and so are not users."""
    courses_by_code, terms = _names(session, "course"), _names(session, "session")
    pools = {row.key: row.fields["capacity"] for row in _sorted(session, "pool")}
    unnamed = defaultdict[str, list[list[str]]](list)
    for row in _sorted(session, "teaching"):
        term, crn, *instructor = row.key.split("\t")
        if len(instructor) == 2:
            unnamed[f"{term}\t{crn}"].append(instructor)
    for row in _named(session, "section", "class"):
        term, _tab, crn = row.key.partition("\t")
        course, title = row.fields.pop("course"), row.fields.pop("title")
        pool = row.fields["pool"]
        yield {
            "sourcedId": row.sourced_id,
            "title": title,
            "courseSourcedId": courses_by_code[course],
            "classCode": f"{course}-{row.fields['number']}",
            "classType": "scheduled",
            "location": ", ".join(dict.fromkeys(each[6] for each in row.fields["meetings"])),
            "schoolSourcedId": ROOT,
            "termSourcedIds": terms[term],
            METADATA: row.fields
            | {"crn": crn, "instructors": unnamed[row.key]}
            | {"pool": pool and (pool, pools[f"{term}\t{pool}"])},
        }


def users(session: Session) -> Iterator[Cells]:
    """Students and teachers."""
    for row in _users(session):
        given, _space, family = row.name.rpartition(" ")
        roles_of = _roles(row)
        for facts in roles_of.values():
            del facts["account"]
        yield {
            "sourcedId": row.sourced_id,
            "enabledUser": "true",
            "username": row.username,
            "givenName": given or family,
            "familyName": family if given else "",
            "identifier": row.number,
            "email": row.email,
            "primaryOrgSourcedId": ROOT,
            METADATA: roles_of,
        }


def roles(session: Session) -> Iterator[Cells]:
    """Yield the roles of users; the first of several is the primary one."""
    for row in _users(session):
        for number, role in enumerate(_roles(row)):
            yield {
                "sourcedId": f"{row.sourced_id}-{role}",
                "userSourcedId": row.sourced_id,
                "roleType": "secondary" if number else "primary",
                "role": role,
                "orgSourcedId": ROOT,
            }


def enrollments(session: Session) -> Iterator[Cells]:
    """Yield teachers and students of sections."""
    for kind, role, source, mark in (
        ("teaching", "teacher", "user", "@"),
        ("enrollment", "student", "student", ""),
    ):
        query = ENROLLED.format(records=KINDS[kind].select)
        for row in _run(session, query, role=role, kind=source, mark=mark):
            yield {
                "sourcedId": f"{row.class_}-{row.user_}-{role}",
                "classSourcedId": row.class_,
                "schoolSourcedId": ROOT,
                "userSourcedId": row.user_,
                "role": role,
                METADATA: row.fields,
            }


def _school(school: str) -> str:
    return f"{ROOT}-{school}" if school else ""


def _org(row: Any, parent: str) -> Cells:
    return {
        "sourcedId": row.sourced_id,
        "name": row.fields["name"],
        "type": "department",
        "identifier": row.key,
        "parentSourcedId": parent,
    }


def _names(session: Session, kind: str) -> dict[str, str]:
    return dict(session.execute(text(NAMES), {"kind": kind}).all())


def _sorted(session: Session, kind: str) -> Iterator[Any]:
    return _run(session, SORTED.format(records=KINDS[kind].select))


def _named(session: Session, kind: str, source: str) -> Iterator[Any]:
    query = NAMED.format(records=KINDS[kind].select)
    return _run(session, query, kind=source)


def _users(session: Session) -> Iterator[Any]:
    students, instructors = (KINDS[kind].select for kind in ("student", "teacher"))
    return _run(session, USERS.format(students=students, instructors=instructors))


def _roles(row: Any) -> dict[str, dict[str, Any]]:
    """Return the fields of a user's roles, by role."""
    return {role: facts for role in ("student", "teacher") if (facts := getattr(row, role))}


def _run(session: Session, query: str, **facts: str) -> Iterator[Any]:
    """Yield the rows of a query, reading a batch at a time."""
    streamed = session.execute(text(query), facts, execution_options={"yield_per": BATCH})
    yield from streamed


# In an order in which nothing refers to what comes later.
FILES: dict[str, Callable[[Session], Iterator[Cells]]] = {
    "orgs": orgs,
    "academicSessions": sessions,
    "courses": courses,
    "classes": classes,
    "users": users,
    "roles": roles,
    "enrollments": enrollments,
}
