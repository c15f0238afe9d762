"""OneRoster 1.1 and 1.2: reads its files into staged records."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from portal.catalog.spellings import Unreadable, code_of, subject_of
from portal.core.i18n import _k
from portal.exchange.importing import tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.models import Options
from portal.exchange.importing.oneroster_fields import METADATA, RowRefused, read_metadata
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.semester import LONGEST_CODE, LONGEST_CRN
from portal.exchange.importing.staging import Stage, key_of
from portal.exchange.importing.tables import Progress, Row, Shape
from portal.ledger.types import DEADLINES

BASE = "sourcedId status dateLastModified "
COLUMNS = {
    "orgs": BASE + "name type identifier parentSourcedId",
    "academicSessions": BASE + "title type startDate endDate parentSourcedId schoolYear",
    "courses": BASE + "schoolYearSourcedId title courseCode grades orgSourcedId subjects "
    "subjectCodes",
    "classes": BASE + "title grades courseSourcedId classCode classType location "
    "schoolSourcedId termSourcedIds subjects subjectCodes periods",
    "users": BASE + "enabledUser username userIds givenName familyName middleName identifier "
    "email sms phone agentSourcedIds grades password userMasterIdentifier preferredGivenName "
    "preferredMiddleName preferredFamilyName primaryOrgSourcedId pronouns",
    "roles": BASE + "userSourcedId roleType role beginDate endDate orgSourcedId "
    "userProfileSourcedId",
    "enrollments": BASE + "classSourcedId schoolSourcedId userSourcedId role primary beginDate "
    "endDate",
}
# Columns that a file must have. Version 1.1 has roles in users.csv, 1.2 in roles.csv.
NEEDED = {
    "orgs": ("sourcedId", "name", "type"),
    "academicSessions": ("sourcedId", "title", "type", "startDate", "endDate"),
    "courses": ("sourcedId", "title", "orgSourcedId"),
    "classes": ("sourcedId", "title", "courseSourcedId", "termSourcedIds"),
    "users": ("sourcedId", "enabledUser", "username", "givenName", "familyName"),
    "roles": ("sourcedId", "userSourcedId", "role"),
    "enrollments": ("sourcedId", "classSourcedId", "userSourcedId", "role"),
}
ADVISER = "metadata.adviser"  # the username of a student's adviser, in files made by hand
OTHERS = ("propertyName", "value", "role", "orgSourcedIds", METADATA, ADVISER)
# Columns in small letters as the standard spells them, and misspellings in real files.
SPELLINGS = {
    name.lower(): name for each in (*COLUMNS.values(), *OTHERS) for name in each.split()
} | {
    "prefferedgivenname": "preferredGivenName",
    "datalastmodified": "dateLastModified",
}
MANIFEST = "manifest.csv"
VERSIONS = ("1.1", "1.2")
BULK, DELTA, ABSENT = "bulk", "delta", "absent"
UNUSED_FILES = ("demographics", "userProfiles")  # files of other programs
REMOVED = "tobedeleted"
TERM_TYPES = {"term", "semester"}
ROLES = ("student", "teacher")
LONGEST = {"name": 160, "term": 80, "title": 200, "number": 16, "email": 254, "username": 64}
LONGEST_STUDENT_NUMBER = 32


def standard_name(column: str) -> str:
    """Return a column name as the standard spells it."""
    found = column.strip()
    return SPELLINGS.get(found.lower(), found)


def _standard_names(header: list[str]) -> list[str]:
    return list(map(standard_name, header))


@dataclass(frozen=True)
class Manifest:
    """The version, and the mode of each file: bulk, delta or absent."""

    version: str
    files: dict[str, str]

    def has(self, file: str, mode: str = "") -> bool:
        """Return whether a file is there, in this mode if one is given."""
        found = self.files.get(file, ABSENT)
        return found == mode if mode else found != ABSENT


def read_manifest(files: Files, report: Report, progress: Progress) -> Manifest:
    """Read the manifest. Raise ImportFailedError if it is missing, or files differ from it."""
    if MANIFEST not in files.names():
        text = _k("%(file)s is missing. A OneRoster import needs it.")
        raise ImportFailedError(text, file=MANIFEST)
    rows = tables.rows(
        files, MANIFEST, Shape(("propertyName", "value"), _standard_names), report, progress
    )
    found = {row["propertyName"]: row for row in rows}
    version = found["oneroster.version"]["value"] if "oneroster.version" in found else ""
    if not version.startswith(VERSIONS):
        raise ImportFailedError(
            _k("%(file)s: version “%(version)s” is not one of %(known)s."),
            file=MANIFEST,
            version=version,
            known=", ".join(VERSIONS),
        )
    modes = {file: _mode(file, found.get(f"file.{file}"), files) for file in COLUMNS}
    for name in UNUSED_FILES:
        row = found.get(f"file.{name}")
        if row and row["value"].lower() in {BULK, DELTA}:
            report.add(Note("file_needless", f"{name}.csv"))
    return Manifest(version[:3], modes)


def _mode(file: str, row: Row | None, files: Files) -> str:
    mode = row["value"].lower() if row else ABSENT
    if row and mode not in {BULK, DELTA, ABSENT}:
        raise ImportFailedError(
            _k("%(file)s, line %(line)s: “%(mode)s” is not bulk, delta or absent."),
            file=MANIFEST,
            line=row.line,
            mode=row["value"],
        )
    if mode != ABSENT and f"{file}.csv" not in files.names():
        raise ImportFailedError(
            _k("%(file)s is missing, but %(manifest)s lists it as %(mode)s."),
            file=f"{file}.csv",
            manifest=MANIFEST,
            mode=mode,
        )
    return mode


@dataclass
class Roster:
    """State while an import is read; of people only the IDs, because there are many."""

    stage: Stage
    all_roles: bool  # whether users without a role in the files have none
    seats: bool = False  # whether any student is enrolled
    schools: dict[str, str] = field(default_factory=dict)  # names by identifier
    departments: dict[str, str] = field(default_factory=dict)  # codes
    terms: dict[str, str] = field(default_factory=dict)  # names
    courses: dict[str, str] = field(default_factory=dict)  # codes
    roles: dict[str, set[str]] = field(default_factory=lambda: {role: set() for role in ROLES})

    def put(self, source: str, kind: str, key: str, fields: dict[str, Any], row: Row) -> None:
        """Stage a record and its ID."""
        self.stage.put(kind, key, fields, row)
        self.name(source, row, key)

    def name(self, source: str, row: Row, key: str) -> None:
        """Stage the ID of a record, and when it was modified."""
        facts = {"key": key}
        if row["dateLastModified"]:
            facts["modified"] = _moment(row["dateLastModified"]).isoformat()
        self.stage.put("source", key_of(source, row["sourcedId"]), facts, row)

    def known(self, source: str, sourced_id: str) -> str | None:
        """Return the key of a course or session by its ID, in these or earlier files."""
        here = {"course": self.courses, "session": self.terms}[source].get(sourced_id)
        return here or self.stage.key_of_id(source, sourced_id)


def stage_oneroster(
    stage: Stage, files: Files, options: Options, report: Report, progress: Progress
) -> None:
    """Stage the records of the files. Raise ImportFailedError."""
    manifest = read_manifest(files, report, progress)
    all_roles = manifest.version == "1.1" or manifest.has("roles", BULK)
    roster = Roster(stage, all_roles)
    for file, read in READERS.items():
        if not manifest.has(file):
            continue
        shape = Shape(NEEDED[file], _standard_names)
        for row in tables.rows(files, f"{file}.csv", shape, report, progress):
            try:
                _check(row)
                if row["status"].lower() == REMOVED:
                    _remove(roster, file, row)
                else:
                    read(roster, row)
            except RowRefused as refused:
                row.note(*refused.args)
    stage.unnamed = {
        kind
        for file, kind in COMPLETE
        # A file without any student says nothing about students.
        if options.remove and manifest.has(file, BULK) and (kind != "enrollment" or roster.seats)
    }


# Readers of rows. They raise RowRefused.


def _check(row: Row) -> None:
    """Check that a row has an ID and a readable date."""
    if not row["sourcedId"] or not row["sourcedId"].isprintable():
        raise RowRefused("no_key", "sourcedId")
    try:
        _moment(row["dateLastModified"] or "2000-01-01")
    except ValueError:
        raise RowRefused("unreadable", "dateLastModified") from None


def _moment(written: str) -> datetime:
    """Return a time in UTC, which is assumed without a zone. Raise ValueError."""
    found = datetime.fromisoformat(written)
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as error:  # before the year 1, or after 9999
        raise ValueError(written) from error


def _remove(roster: Roster, file: str, row: Row) -> None:
    """Stage the removal of a class, a user or an enrollment. Other records are not removed."""
    match file:
        case "enrollments":
            facts = _enrollment(row)
            roster.stage.put("by_id", key_of(*facts.values()), facts, row, removes=True)
        case "classes" | "users":
            kind = {"classes": "class", "users": "user"}[file]
            roster.stage.put("id_removal", key_of(kind, row["sourcedId"]), {}, row, removes=True)
        case "roles":
            raise RowRefused("role_kept", "role")
        case _:
            raise RowRefused("kept_for_others")


def _read_org(roster: Roster, row: Row) -> None:
    """Stage a department. The name of an org above departments is their school."""
    name = row["name"][: LONGEST["name"]]
    if row["type"].lower() != "department":
        roster.schools[row["sourcedId"]] = name
        return
    metadata = read_metadata("department", row)
    code = (row["identifier"] or row["sourcedId"]).upper()
    if len(code) > LONGEST_CODE or not code.isprintable():
        raise RowRefused("unreadable", "identifier", _k("The code is too long."))
    if "subject" in metadata:
        subject = {"name": name, "department": metadata["subject"]}
        roster.put("subject", "subject", code, subject, row)
        return
    roster.departments[row["sourcedId"]] = code
    facts = {"name": name, "school": roster.schools.get(row["parentSourcedId"], "")}
    roster.put("org", "department", code, facts | metadata, row)


def _read_session(roster: Roster, row: Row) -> None:
    """Stage a term; school years and grading periods are left out."""
    if row["type"] not in TERM_TYPES:
        raise RowRefused("no_term", "type")
    metadata = read_metadata("term", row)
    name = " ".join(row["title"].split())
    if not name or len(name) > LONGEST["term"] or not name.isprintable():
        raise RowRefused("unreadable", "title")
    try:
        starts, ends = (date.fromisoformat(row[each]) for each in ("startDate", "endDate"))
    except ValueError:
        why = _k("Write dates as 2026-08-31.")
        raise RowRefused("unreadable", "startDate", why) from None
    _check_days(starts, ends, metadata)
    roster.terms[row["sourcedId"]] = name
    dates = {"starts": starts.isoformat(), "ends": ends.isoformat()}
    roster.put("session", "term", name, dates | metadata, row)


def _check_days(starts: date, ends: date, metadata: dict[str, Any]) -> None:
    """Check that the days of a term are possible."""
    if ends < starts:
        raise RowRefused("unreadable", "endDate", _k("The date is before the first day."))
    days = [metadata[each] for each in DEADLINES if metadata.get(each)]
    if days != sorted(days) or (days and days[-1] > ends.isoformat()):
        why = _k("Deadlines must be in the order add, drop, withdraw, and not after the last day.")
        raise RowRefused("unreadable", METADATA, why)


def _read_course(roster: Roster, row: Row) -> None:
    """Stage a course; its department is that of its org, else of its subject."""
    metadata = read_metadata("course", row)
    try:
        code = code_of(row["courseCode"] or row["sourcedId"])
    except Unreadable as error:
        raise RowRefused("unreadable", "courseCode", error) from None
    subject = metadata.pop("subject", subject_of(code))
    department = metadata.pop("department", "") or roster.departments.get(
        row["orgSourcedId"], subject
    )
    roster.stage.put("department", department, {})
    named = {"name": row["subjects"][: LONGEST["name"]] or subject, "department": department}
    roster.stage.put("subject", subject, named)
    roster.courses[row["sourcedId"]] = code
    title = " ".join(row["title"].split())[: LONGEST["title"]] or code
    facts = {"title": title, "subject": subject, "department": department}
    roster.put("course", "course", code, facts | metadata, row)


def _read_class(roster: Roster, row: Row) -> None:
    """Stage a section; without seats it is a draft, and no student can register in it."""
    metadata = read_metadata("section", row)
    course = roster.known("course", row["courseSourcedId"])
    if course is None:
        raise RowRefused("no_such", "courseSourcedId")
    terms = (roster.known("session", each.strip()) for each in row["termSourcedIds"].split(","))
    term = next((each for each in terms if each), None)
    if term is None:
        raise RowRefused("no_such", "termSourcedIds")
    crn = metadata.pop("crn", row["sourcedId"])
    if not crn or len(crn) > LONGEST_CRN or not crn.isprintable():
        why = Unreadable(_k("At most %(most)s characters each."), most=LONGEST_CRN)
        raise RowRefused("unreadable", "sourcedId", why)
    key = key_of(term, crn)
    for instructor in metadata.pop("instructors", []):  # those without an account
        name, department = instructor
        roster.stage.put("teacher", key_of(*instructor), {"name": name, "department": department})
        roster.stage.put("teaching", key_of(key, *instructor), {}, row)
    title = " ".join(row["title"].split())[: LONGEST["title"]]
    facts: dict[str, Any] = {"course": course, "title": title}
    class_code = row["classCode"].upper()
    if class_code.startswith(course):  # the section's number is behind it
        number = class_code.removeprefix(course).lstrip("-_. ")[: LONGEST["number"]]
        facts |= {"number": number} if number else {}
    facts |= metadata
    if metadata.get("pool"):
        facts["pool"], capacity = metadata["pool"]
        roster.stage.put("pool", key_of(term, facts["pool"]), {"capacity": capacity})
    roster.put("class", "section", key, facts, row)


def _read_role(roster: Roster, row: Row) -> None:
    """Remember a role of a user, in 1.2."""
    role = row["role"].lower()
    if role not in ROLES:
        raise RowRefused("other_role", "role")
    roster.roles[role].add(row["userSourcedId"])


def _read_user(roster: Roster, row: Row) -> None:
    """Stage an account with its roles. Disabled users are removed."""
    username = row["username"]
    given = row["preferredGivenName"] or row["givenName"]
    family = row["preferredFamilyName"] or row["familyName"]
    name = " ".join(f"{given} {family}".split())[: LONGEST["name"]]
    for column, value in (("username", username), ("givenName", name)):
        if not value or len(value) > LONGEST.get(column, len(value)) or not value.isprintable():
            raise RowRefused("unreadable", column)
    role, users = row["role"].lower(), roster.roles
    roles = [each for each in ROLES if each == role or row["sourcedId"] in users[each]]
    if row["enabledUser"].lower() == "false":
        roster.stage.put("account", username, {}, row, removes=True)
        roster.name("user", row, username)
        return
    if not roles and roster.all_roles:
        raise RowRefused("other_role", "role")
    metadata = read_metadata("user", row)
    contact = {"name": name, "email": row["email"][: LONGEST["email"]]}
    roster.put("user", "account", username, contact, row)
    if "teacher" in roles:
        facts = contact | {"account": username} | metadata.get("teacher", {})
        roster.stage.put("teacher", f"@{username}", facts, row)
    if "student" in roles:
        number = row["identifier"] or row["sourcedId"]
        if len(number) > LONGEST_STUDENT_NUMBER or not number.isprintable():
            raise RowRefused("unreadable", "identifier", _k("The number is too long."))
        facts = {"account": username} | metadata.get("student", {})
        facts |= {"adviser": row[ADVISER]} if row[ADVISER] else {}
        roster.put("student", "student", number, facts, row)


def _read_enrollment(roster: Roster, row: Row) -> None:
    """Stage an enrollment, which is resolved when all IDs are known."""
    facts = _enrollment(row)
    if facts["role"] not in ROLES:
        raise RowRefused("other_role", "role")
    metadata = read_metadata("enrollment", row)
    roster.seats = roster.seats or facts["role"] == "student"
    roster.stage.put("by_id", key_of(*facts.values()), facts | metadata, row)


def _enrollment(row: Row) -> dict[str, str]:
    named = {"class": row["classSourcedId"], "user": row["userSourcedId"]}
    return named | {"role": row["role"].lower()}


# No file refers to a later one.
READERS: dict[str, Callable[[Roster, Row], None]] = {
    "orgs": _read_org,
    "academicSessions": _read_session,
    "courses": _read_course,
    "classes": _read_class,
    "roles": _read_role,
    "users": _read_user,
    "enrollments": _read_enrollment,
}
# Kinds of records that a bulk file lists completely.
COMPLETE = (
    ("classes", "section"),
    ("users", "account"),
    ("enrollments", "teaching"),
    ("enrollments", "enrollment"),
)
