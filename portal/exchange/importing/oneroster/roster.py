"""What is known while a OneRoster import is read: whom and what its identifiers stand for."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text

from portal.exchange.importing.oneroster.more import more_of
from portal.exchange.importing.report import Report
from portal.exchange.importing.staging import Stage, key_of
from portal.exchange.importing.tables import Row

KNOWN = text("SELECT key FROM sourced_ids WHERE kind = :kind AND sourced_id = :id")
REMOVED = "tobedeleted"
STUDENT, TEACHER = 1, 2
ROLES = {"student": STUDENT, "teacher": TEACHER}


@dataclass
class Roster:
    """One import. Of people only roles are remembered here, in a bit each: they are many."""

    stage: Stage
    report: Report
    all_roles: bool = True  # whether who has no role here has none
    seats: bool = False  # whether students are named who take something
    schools: dict[str, str] = field(default_factory=dict)  # names by identifier
    departments: dict[str, str] = field(default_factory=dict)  # codes
    terms: dict[str, str] = field(default_factory=dict)  # names
    courses: dict[str, str] = field(default_factory=dict)  # codes
    roles: dict[str, int] = field(default_factory=dict)

    def put(self, source: str, kind: str, key: str, fields: dict[str, Any], row: Row) -> None:
        """A record, and what the source calls it."""
        self.stage.put(kind, key, fields, row)
        self.name(source, row, key)

    def name(self, source: str, row: Row, key: str) -> None:
        """Remember what the source calls a record, and as of when."""
        facts = {"key": key}
        if row["dateLastModified"]:
            facts["modified"] = moment(row["dateLastModified"]).isoformat()
        self.stage.put("source", key_of(source, row["sourcedId"]), facts, row)

    def key_of(self, source: str, sourced_id: str) -> str | None:
        """What an identifier of a course or a session stands for, here or in earlier files."""
        here = {"course": self.courses, "session": self.terms}[source].get(sourced_id)
        if here is not None:
            return here
        asked = {"kind": source, "id": sourced_id}
        found: str | None = self.stage.session.scalar(KNOWN, asked)
        return found

    def more(self, kind: str, row: Row) -> dict[str, Any] | None:
        """The fields of `metadata.fairseat`; None where they make no sense."""
        return more_of(kind, row, self.report)


def moment(written: str) -> datetime:
    """A time of the source, in UTC; raises ValueError. One without a zone is of UTC."""
    found = datetime.fromisoformat(written)
    try:
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except OverflowError as error:  # before the year 1, or after 9999
        raise ValueError(written) from error
