"""A OneRoster import as records: what the portal would have of it."""

from collections.abc import Callable

from portal.exchange.importing import tables
from portal.exchange.importing.oneroster import offer, people
from portal.exchange.importing.oneroster.columns import NEEDED, spelt
from portal.exchange.importing.oneroster.manifest import BULK, Manifest, read_manifest
from portal.exchange.importing.oneroster.roster import REMOVED, Roster, moment
from portal.exchange.importing.options import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.sources import Source
from portal.exchange.importing.staging import Stage, key_of
from portal.exchange.importing.tables import Progress, Row, Shape

# In an order in which nothing refers to what was not read yet.
READERS: dict[str, Callable[[Roster, Row], None]] = {
    "orgs": offer.read_org,
    "academicSessions": offer.read_session,
    "courses": offer.read_course,
    "classes": offer.read_class,
    "roles": people.read_role,
    "users": people.read_user,
    "enrollments": people.read_enrollment,
}
# What a file names all of where it is bulk.
WHOLE = (
    ("classes", "section"),
    ("users", "account"),
    ("enrollments", "teaching"),
    ("enrollments", "enrollment"),
)


def stage_oneroster(
    stage: Stage, source: Source, options: Options, report: Report, progress: Progress
) -> None:
    """Put aside what those files say; raises ImportFailed."""
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
        # A file that names no student at all says nothing of students.
        if options.remove and manifest.has(file, BULK) and (kind != "enrollment" or roster.seats)
    }


def knows_roles(manifest: Manifest) -> bool:
    """Whether who is given no role has none: 1.1 says it with each user, 1.2 in a file."""
    return manifest.version == "1.1" or manifest.has("roles", BULK)


def sound(row: Row, report: Report) -> bool:
    """Whether a row says what it is about, and when it was changed in a way that can be read."""
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
    """Let go of a class, a user or an enrollment; the portal keeps what they refer to."""
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
