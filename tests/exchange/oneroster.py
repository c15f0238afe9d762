"""Writes small OneRoster imports; a test says only what matters to it."""

import csv
import io
import json
from pathlib import Path
from typing import Any

from portal.exchange.importing.diff import Counts
from portal.exchange.importing.models import Options
from portal.exchange.importing.oneroster import COLUMNS
from portal.exchange.importing.report import Report
from portal.exchange.importing.runs import import_files
from tests.exchange.campus import nothing
from tests.exchange.makers import zipped

ROWS = {
    "orgs": [
        {"sourcedId": "org-u", "name": "Sample University", "type": "school"},
        {
            "sourcedId": "org-cs",
            "name": "Computer Science",
            "type": "department",
            "identifier": "CSCI",
            "parentSourcedId": "org-u",
        },
    ],
    "academicSessions": [
        {"sourcedId": "ay", "title": "2030-2031", "type": "schoolYear"},
        {
            "sourcedId": "fall",
            "title": "Fall 2030",
            "type": "semester",
            "startDate": "2030-08-31",
            "endDate": "2030-12-18",
        },
    ],
    "courses": [
        {
            "sourcedId": "crs",
            "title": "Data Structures",
            "courseCode": "CSCI-1200",
            "orgSourcedId": "org-cs",
        }
    ],
    "classes": [
        {
            "sourcedId": "90001",
            "title": "Data Structures 01",
            "courseSourcedId": "crs",
            "classCode": "CSCI-1200-01",
            "termSourcedIds": "fall",
        }
    ],
    "users": [
        {
            "sourcedId": "u-t",
            "enabledUser": "true",
            "username": "tlee",
            "givenName": "Terry",
            "familyName": "Lee",
            "email": "tlee@example.edu",
        },
        {
            "sourcedId": "u-s",
            "enabledUser": "true",
            "username": "spark",
            "givenName": "Sam",
            "familyName": "Park",
            "identifier": "S-1",
        },
    ],
    "roles": [
        {"sourcedId": "r-1", "userSourcedId": "u-t", "roleType": "primary", "role": "teacher"},
        {"sourcedId": "r-2", "userSourcedId": "u-s", "roleType": "primary", "role": "student"},
    ],
    "enrollments": [
        {"sourcedId": "e-1", "classSourcedId": "90001", "userSourcedId": "u-t", "role": "teacher"},
    ],
}


class School:
    """One class with one teacher and a student who is in nothing, and whatever a test changes."""

    def __init__(self, version: str = "1.2", mode: str = "bulk") -> None:
        self.version = version
        self.rows = {file: [dict(row) for row in rows] for file, rows in ROWS.items()}
        self.modes = dict.fromkeys(ROWS, mode)
        if version == "1.1":
            for user, role in zip(self.rows["users"], self.rows.pop("roles"), strict=True):
                user["role"] = role["role"]
            del self.modes["roles"]

    def only(self, file: str, *rows: dict[str, str], mode: str = "delta") -> "School":
        """That file alone, with changes."""
        self.modes = {file: mode}
        self.rows = {file: [dict(row) for row in rows]}
        return self

    def add(self, file: str, **fields: str) -> "School":
        """One more row."""
        self.rows[file].append({"sourcedId": f"{file}-{len(self.rows[file])}", **fields})
        return self

    def enroll(self, user: str = "u-s", section: str = "90001", **more: str) -> "School":
        """A student in a class."""
        return self.add(
            "enrollments", classSourcedId=section, userSourcedId=user, role="student", **more
        )

    def student(self, number: int) -> "School":
        """One more student: `u-<number>`."""
        name = f"s{number}"
        self.add(
            "users",
            sourcedId=f"u-{number}",
            enabledUser="true",
            username=name,
            givenName="Sam",
            familyName=f"Park{number}",
            identifier=f"S-{number}",
        )
        return self.add("roles", userSourcedId=f"u-{number}", role="student")

    def seats(self, count: int, **facts: Any) -> "School":
        """The class is open, with so many seats."""
        more = {"capacity": count, "status": "OPEN", "credits": [400, 400]} | facts
        self.rows["classes"][0]["metadata.fairseat"] = json.dumps(more)
        return self

    def files(self) -> dict[str, bytes | str]:
        """All files with their contents."""
        made: dict[str, bytes | str] = {
            f"{file}.csv": table(COLUMNS[file].split(), rows) for file, rows in self.rows.items()
        }
        output = {"manifest.version": "1.0", "oneroster.version": self.version}
        output |= {f"file.{file}": mode for file, mode in self.modes.items()}
        lines = [{"propertyName": name, "value": value} for name, value in output.items()]
        return made | {"manifest.csv": table(["propertyName", "value"], lines)}

    def zip(self) -> bytes:
        """All of it as a zip."""
        return zipped(self.files())

    def write(self, folder: Path) -> Path:
        """All of it as a zip in a folder."""
        path = folder / "roster.zip"
        path.write_bytes(self.zip())
        return path


def table(columns: list[str], rows: list[dict[str, str]]) -> str:
    """A CSV file; columns that only rows know come last."""
    more = {name: None for row in rows for name in row if name not in columns}
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [*columns, *more], restval="")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def imported(path: Path, *, dry: bool = False, **choices: bool) -> tuple[Counts, Report]:
    """What an import of that zip or folder has changed, and what there was to say of it."""
    report = Report()
    options = Options(layout="oneroster", **choices)
    return import_files(path, options, report, nothing, dry=dry).counts, report


def moved(counts: Counts) -> dict[str, dict[str, int]]:
    """What has changed, without what has not."""
    found = {
        kind: {sort: count for sort, count in each.items() if count and sort != "unchanged"}
        for kind, each in counts.items()
    }
    return {kind: each for kind, each in found.items() if each}
