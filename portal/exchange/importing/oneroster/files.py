"""OneRoster files: their columns, and manifest.csv with the version and the mode of each file."""

from dataclasses import dataclass

from portal.core.i18n import _k
from portal.exchange.importing import tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import Report
from portal.exchange.importing.sources import Source
from portal.exchange.importing.tables import Progress, Row, Shape

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
MORE = "metadata.fairseat"  # JSON of fields without a column
OTHERS = ("propertyName", "value", "role", "orgSourcedIds", MORE)
# Misspellings in real files.
MISSPELT = {"prefferedgivenname": "preferredGivenName", "datalastmodified": "dateLastModified"}

_known = {name.lower(): name for each in (*COLUMNS.values(), *OTHERS) for name in each.split()}


def spelt(column: str) -> str:
    """Return a column name as the standard spells it."""
    found = column.strip()
    return _known.get(found.lower()) or MISSPELT.get(found.lower(), found)


NAME = "manifest.csv"
VERSIONS = ("1.1", "1.2")
BULK, DELTA, ABSENT = "bulk", "delta", "absent"
# Files of other programs that the portal does not use.
NEEDLESS = {"demographics", "userProfiles"}


@dataclass(frozen=True)
class Manifest:
    """The version, and the mode of each file: bulk, delta or absent."""

    version: str
    files: dict[str, str]

    def has(self, file: str, mode: str = "") -> bool:
        """Whether a file is there, in this mode if one is given."""
        found = self.files.get(file, ABSENT)
        return found == mode if mode else found != ABSENT


def read_manifest(source: Source, report: Report, progress: Progress) -> Manifest:
    """Read the manifest. Raise ImportFailedError if it is missing, or files differ from it."""
    if NAME not in source.names():
        raise ImportFailedError(_k("%(file)s is missing. A OneRoster import needs it."), file=NAME)
    shape = Shape(("propertyName", "value"), spelt)
    found = {row["propertyName"]: row for row in tables.rows(source, NAME, shape, report, progress)}
    version = found["oneroster.version"]["value"] if "oneroster.version" in found else ""
    if not version.startswith(VERSIONS):
        raise ImportFailedError(
            _k("%(file)s: version “%(version)s” is not one of %(known)s."),
            file=NAME,
            version=version,
            known=", ".join(VERSIONS),
        )
    files = {file: _mode(file, found, source) for file in COLUMNS}
    for name in NEEDLESS:
        row = found.get(f"file.{name}")
        if row and row["value"].lower() in {BULK, DELTA}:
            report.note("file_needless", Row(f"{name}.csv", 0, {}))
    return Manifest(version[:3], files)


def _mode(file: str, found: dict[str, Row], source: Source) -> str:
    row = found.get(f"file.{file}")
    mode = row["value"].lower() if row else ABSENT
    if row and mode not in {BULK, DELTA, ABSENT}:
        raise ImportFailedError(
            _k("%(file)s, line %(line)s: “%(mode)s” is not bulk, delta or absent."),
            file=NAME,
            line=row.line,
            mode=row["value"],
        )
    if mode != ABSENT and f"{file}.csv" not in source.names():
        raise ImportFailedError(
            _k("%(file)s is missing, although %(manifest)s says that it is %(mode)s."),
            file=f"{file}.csv",
            manifest=NAME,
            mode=mode,
        )
    return mode
