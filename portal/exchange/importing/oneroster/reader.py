"""Reads OneRoster 1.1 and 1.2 files into staged records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from sqlalchemy import text

from portal.catalog.spellings import Unreadable, code_of, subject_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing import tables
from portal.exchange.importing.models import Options
from portal.exchange.importing.oneroster.files import BULK, NEEDED, Manifest, read_manifest, spelt
from portal.exchange.importing.oneroster.metadata import more_of
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.sections import LONGEST_CRN, LONGEST_DEPARTMENT
from portal.exchange.importing.sources import Source
from portal.exchange.importing.staging import Stage, key_of
from portal.exchange.importing.tables import Progress, Row, Shape

KNOWN_KEY = text("SELECT key FROM sourced_ids WHERE kind = :kind AND sourced_id = :id")
REMOVED = "tobedeleted"
STUDENT, TEACHER = 1, 2
ROLES = {"student": STUDENT, "teacher": TEACHER}


@dataclass
class Roster:
    """What is known while an import is read. There are many people: only their roles are here."""

    stage: Stage
    report: Report
    all_roles: bool = True  # whether users without a role in the files have none
    seats: bool = False  # whether any student is enrolled
    schools: dict[str, str] = field(default_factory=dict)  # names by identifier
    departments: dict[str, str] = field(default_factory=dict)  # codes
    terms: dict[str, str] = field(default_factory=dict)  # names
    courses: dict[str, str] = field(default_factory=dict)  # codes
    roles: dict[str, int] = field(default_factory=dict)

    def put(self, source: str, kind: str, key: str, fields: dict[str, Any], row: Row) -> None:
        """Stage a record and its ID."""
        self.stage.put(kind, key, fields, row)
        self.name(source, row, key)

    def name(self, source: str, row: Row, key: str) -> None:
        """Stage the ID of a record, and when it was modified."""
        facts = {"key": key}
        if row["dateLastModified"]:
            facts["modified"] = moment(row["dateLastModified"]).isoformat()
        self.stage.put("source", key_of(source, row["sourcedId"]), facts, row)

    def key_of(self, source: str, sourced_id: str) -> str | None:
        """Return the key of a course or session by its ID, in these or earlier files."""
        here = {"course": self.courses, "session": self.terms}[source].get(sourced_id)
        if here is not None:
            return here
        asked = {"kind": source, "id": sourced_id}
        found: str | None = self.stage.session.scalar(KNOWN_KEY, asked)
        return found

    def more(self, kind: str, row: Row) -> dict[str, Any] | None:
        """Return the fields of `metadata.fairseat`, None if they are wrong."""
        return more_of(kind, row, self.report)


def moment(written: str) -> datetime:
    """Return a time in UTC, which is assumed without a zone. Raise ValueError."""
    found = datetime.fromisoformat(written)
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as error:  # before the year 1, or after 9999
        raise ValueError(written) from error


TERM_TYPES = {"term", "semester"}
LONGEST_TEXTS = {"name": 160, "term": 80, "title": 200, "number": 16}


def read_org(roster: Roster, row: Row) -> None:
    """Stage a department. The name of an org above departments is their school."""
    if row["type"].lower() != "department":
        roster.schools[row["sourcedId"]] = row["name"][: LONGEST_TEXTS["name"]]
        return None
    more = roster.more("department", row)
    code = (row["identifier"] or row["sourcedId"]).upper()
    if more is None:
        return None
    if len(code) > LONGEST_DEPARTMENT or not code.isprintable():
        return roster.report.note(
            "unreadable", row, "identifier", stored_message(_k("It is too long for a code."))
        )
    school = roster.schools.get(row["parentSourcedId"], "")
    facts = {"name": row["name"][: LONGEST_TEXTS["name"]], "school": school}
    if "subject" in more:
        subject = {"name": facts["name"], "department": more["subject"]}
        return roster.put("subject", "subject", code, subject, row)
    roster.departments[row["sourcedId"]] = code
    return roster.put("org", "department", code, facts | more, row)


def read_session(roster: Roster, row: Row) -> None:
    """Stage a term; school years and grading periods are left out."""
    if row["type"] not in TERM_TYPES:
        return roster.report.note("no_term", row, "type")
    more = roster.more("term", row)
    name = " ".join(row["title"].split())
    if more is None:
        return None
    if not name or len(name) > LONGEST_TEXTS["term"] or not name.isprintable():
        return roster.report.note("unreadable", row, "title")
    try:
        starts, ends = (date.fromisoformat(row[each]) for each in ("startDate", "endDate"))
    except ValueError:
        return roster.report.note(
            "unreadable", row, "startDate", stored_message(_k("Write dates as 2026-08-31."))
        )
    if ends < starts:
        return roster.report.note(
            "unreadable", row, "endDate", stored_message(_k("It is before the first day."))
        )
    roster.terms[row["sourcedId"]] = name
    dates = {"starts": starts.isoformat(), "ends": ends.isoformat()}
    return roster.put("session", "term", name, dates | more, row)


def read_course(roster: Roster, row: Row) -> None:
    """Stage a course; its department is that of its org, else of its subject."""
    more = roster.more("course", row)
    if more is None:
        return None
    try:
        code = code_of(row["courseCode"] or row["sourcedId"])
    except Unreadable as error:
        return roster.report.note("unreadable", row, "courseCode", error.stored)
    subject = more.pop("subject", subject_of(code))
    department = more.pop("department", "") or roster.departments.get(row["orgSourcedId"], subject)
    roster.stage.put("department", department, {})
    roster.stage.put(
        "subject",
        subject,
        {"name": row["subjects"][: LONGEST_TEXTS["name"]] or subject, "department": department},
    )
    roster.courses[row["sourcedId"]] = code
    title = " ".join(row["title"].split())[: LONGEST_TEXTS["title"]] or code
    facts = {"title": title, "subject": subject, "department": department}
    return roster.put("course", "course", code, facts | more, row)


def read_class(roster: Roster, row: Row) -> None:
    """Stage a section. Without seats it is a draft, in which nobody can register."""
    more = roster.more("section", row)
    if more is None:
        return None
    course = roster.key_of("course", row["courseSourcedId"])
    if course is None:
        return roster.report.note("no_such", row, "courseSourcedId")
    terms = [roster.key_of("session", each.strip()) for each in row["termSourcedIds"].split(",")]
    term = next((each for each in terms if each), None)
    if term is None:
        return roster.report.note("no_such", row, "termSourcedIds")
    crn = more.pop("crn", row["sourcedId"])
    if not crn or len(crn) > LONGEST_CRN or not crn.isprintable():
        return roster.report.note(
            "unreadable",
            row,
            "sourcedId",
            stored_message(_k("At most %(most)s characters each."), most=LONGEST_CRN),
        )
    title = " ".join(row["title"].split())[: LONGEST_TEXTS["title"]]
    key = key_of(term, crn)
    _put_teachers(roster, row, key, more.pop("teachers", []))
    facts: dict[str, Any] = {"course": course, "title": title}
    facts |= _number(row, course) | more | _pool(roster, term, more)
    return roster.put("class", "section", key, facts, row)


def _put_teachers(roster: Roster, row: Row, key: str, teachers: list[tuple[str, str]]) -> None:
    """Stage teachers who have no account."""
    for name, department in teachers:
        teacher = key_of(name, department)
        roster.stage.put("teacher", teacher, {"name": name, "department": department})
        roster.stage.put("teaching", key_of(key, teacher), {}, row)


def _pool(roster: Roster, term: str, more: dict[str, Any]) -> dict[str, Any]:
    """Stage the seat pool of a section, if it has one."""
    if not more.get("pool"):
        return {}
    name, capacity = more["pool"]
    roster.stage.put("pool", key_of(term, name), {"capacity": capacity})
    return {"pool": name}


def _number(row: Row, course: str) -> dict[str, Any]:
    """The number of a class, if its code is the course code with a suffix."""
    code = row["classCode"].upper()
    number = code.removeprefix(course).lstrip("-_. ") if code.startswith(course) else ""
    return {"number": number[: LONGEST_TEXTS["number"]]} if number else {}


LONGEST_OF_USERS = {"username": 64, "name": 160, "email": 254, "number": 32}


def read_role(roster: Roster, row: Row) -> None:
    """Remember a role of a user, in 1.2."""
    role = ROLES.get(row["role"].lower())
    if role is None:
        return roster.report.note("other_role", row, "role")
    known = roster.roles.get(row["userSourcedId"], 0)
    roster.roles[row["userSourcedId"]] = known | role
    return None


def read_user(roster: Roster, row: Row) -> None:
    """Stage an account with its roles. Disabled users are removed."""
    username, name = row["username"], _name(row)
    if not username or len(username) > LONGEST_OF_USERS["username"] or not username.isprintable():
        return roster.report.note("unreadable", row, "username")
    if not name or not name.isprintable():
        return roster.report.note("unreadable", row, "givenName")
    roles = ROLES.get(row["role"].lower(), 0) | roster.roles.get(row["sourcedId"], 0)
    if row["enabledUser"].lower() == "false":
        roster.stage.remove("account", username, {}, row)
        return roster.name("user", row, username)
    if not roles and roster.all_roles:
        return roster.report.note("other_role", row, "role")
    more = roster.more("user", row)
    if more is None:
        return None
    contact = {"name": name, "email": row["email"][: LONGEST_OF_USERS["email"]]}
    roster.put("user", "account", username, contact, row)
    if roles & TEACHER:
        facts = contact | {"account": username} | more.get("teacher", {})
        roster.stage.put("teacher", f"@{username}", facts, row)
    if roles & STUDENT:
        _put_student(roster, row, {"account": username} | more.get("student", {}))
    return None


def _put_student(roster: Roster, row: Row, facts: dict[str, Any]) -> None:
    number = row["identifier"] or row["sourcedId"]
    if len(number) > LONGEST_OF_USERS["number"] or not number.isprintable():
        return roster.report.note(
            "unreadable", row, "identifier", stored_message(_k("It is too long for a number."))
        )
    return roster.put("student", "student", number, facts, row)


def _name(row: Row) -> str:
    """Return the preferred name of a user."""
    given = row["preferredGivenName"] or row["givenName"]
    family = row["preferredFamilyName"] or row["familyName"]
    return " ".join(f"{given} {family}".split())[: LONGEST_OF_USERS["name"]]


def read_enrollment(roster: Roster, row: Row) -> None:
    """Stage an enrollment, which is resolved when all IDs are known."""
    role = row["role"].lower()
    if role not in ROLES:
        return roster.report.note("other_role", row, "role")
    more = roster.more("enrollment", row)
    if more is None:
        return None
    facts = {"class": row["classSourcedId"], "user": row["userSourcedId"], "role": role}
    roster.seats = roster.seats or role == "student"
    return roster.stage.put("enrolling", key_of(*facts.values()), facts | more, row)


# No file refers to a later one.
READERS: dict[str, Callable[[Roster, Row], None]] = {
    "orgs": read_org,
    "academicSessions": read_session,
    "courses": read_course,
    "classes": read_class,
    "roles": read_role,
    "users": read_user,
    "enrollments": read_enrollment,
}
# Kinds of which a bulk file names all records.
WHOLE = (
    ("classes", "section"),
    ("users", "account"),
    ("enrollments", "teaching"),
    ("enrollments", "enrollment"),
)


def stage_oneroster(
    stage: Stage, source: Source, options: Options, report: Report, progress: Progress
) -> None:
    """Stage the records of the files. Raise ImportFailedError."""
    manifest = read_manifest(source, report, progress)
    roster = Roster(stage, report, all_roles=knows_roles(manifest))
    for file, read in READERS.items():
        if not manifest.has(file):
            continue
        shape = Shape(NEEDED[file], spelt)
        for row in tables.rows(source, f"{file}.csv", shape, report, progress):
            if sound(row, report):
                remove(roster, file, row) if row["status"].lower() == REMOVED else read(roster, row)
    stage.unnamed = {
        kind
        for file, kind in WHOLE
        # A file without any student says nothing about students.
        if options.remove and manifest.has(file, BULK) and (kind != "enrollment" or roster.seats)
    }


def knows_roles(manifest: Manifest) -> bool:
    """Whether users without a role have none: 1.1 has roles in each user, 1.2 in a file."""
    return manifest.version == "1.1" or manifest.has("roles", BULK)


def sound(row: Row, report: Report) -> bool:
    """Whether a row has an ID and a readable date. Report it otherwise."""
    if not row["sourcedId"] or not row["sourcedId"].isprintable():
        report.note("no_key", row, "sourcedId")
        return False
    try:
        moment(row["dateLastModified"] or "2000-01-01")
    except ValueError:
        report.note("unreadable", row, "dateLastModified")
        return False
    return True


def remove(roster: Roster, file: str, row: Row) -> None:
    """Stage the removal of a class, a user or an enrollment. Other records are not removed."""
    match file:
        case "enrollments":
            role = row["role"].lower()
            facts = {"class": row["classSourcedId"], "user": row["userSourcedId"], "role": role}
            roster.stage.remove("enrolling", key_of(*facts.values()), facts, row)
        case "classes" | "users":
            kind = {"classes": "class", "users": "user"}[file]
            roster.stage.remove("leaving", key_of(kind, row["sourcedId"]), {}, row)
        case "roles":
            roster.report.note("role_kept", row, "role")
        case _:
            roster.report.note("kept_for_others", row)
