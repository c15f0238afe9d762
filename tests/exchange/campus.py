"""Writes small semesters in the CSV layout; a test says only what matters to it."""

import csv
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.catalog.term_catalog import SectionView, read_catalog
from portal.core.db import transaction
from portal.exchange.importing.diff import Counts
from portal.exchange.importing.files import open_files
from portal.exchange.importing.models import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.runs import import_files
from portal.exchange.importing.semester_records import stage_semester
from portal.exchange.importing.staging import KnownRecords, Stage

COLUMNS = {
    "departments.csv": "dept_code dept_name school",
    "courses.csv": "course_id dept_code course_number title credits description offered "
    "prereq_text prereq_list coreq_list",
    "sections.csv": "term crn course_id section section_title schedule_type credits capacity "
    "enrolled remaining wait_capacity wait_count wait_remaining xlist_capacity xlist_enrolled "
    "xlist_remaining campus method levels attributes registration_dates has_prereqs note consent "
    "as_of status",
    "meetings.csv": "crn meeting_no meeting_type frequency days start_time end_time location "
    "date_start date_end instructors",
    "restrictions.csv": "crn rule kind value",
    "cross_lists.csv": "crn course_id",
}
COURSE = {"course_id": "CSC-225", "dept_code": "CSC", "title": "Algorithms", "credits": "4"}
SECTION = {
    "term": "SPRING 2021",
    "crn": "10001",
    "course_id": "CSC-225",
    "section": "01",
    "section_title": "ALGORITHMS",
    "credits": "4",
    "capacity": "30",
    "enrolled": "0",
    "remaining": "30",
}
MEETING = {
    "crn": "10001",
    "meeting_no": "1",
    "meeting_type": "LEC",
    "days": "MR",
    "start_time": "2:00PM",
    "end_time": "3:50PM",
    "date_start": "2021-01-06",
    "date_end": "2021-04-30",
    "instructors": "Staff",
}


class Campus:
    """One course with one section that meets once, and whatever a test adds or changes."""

    def __init__(self, **section: str) -> None:
        self.rows: dict[str, list[dict[str, str]]] = {
            "departments.csv": [
                {"dept_code": "CSC", "dept_name": "Computing", "school": "Science"}
            ],
            "courses.csv": [dict(COURSE)],
            "sections.csv": [SECTION | section],
            "meetings.csv": [dict(MEETING)],
            "restrictions.csv": [],
            "cross_lists.csv": [],
        }
        self.columns = dict(COLUMNS)
        self.prerequisites: Any = {}

    def section(self, crn: str, meeting: dict[str, str] | None = None, **fields: str) -> "Campus":
        """One more section, with one meeting."""
        self.rows["sections.csv"].append(SECTION | {"crn": crn, "section": crn[-2:]} | fields)
        return self.meeting(**{"crn": crn, **(meeting or {})})

    def course(self, code: str, **fields: str) -> "Campus":
        """One more course."""
        self.rows["courses.csv"].append(COURSE | {"course_id": code} | fields)
        return self

    def meeting(self, **fields: str) -> "Campus":
        """One more meeting."""
        self.rows["meetings.csv"].append(MEETING | fields)
        return self

    def meets(self, **fields: str) -> "Campus":
        """The first section's meeting, changed."""
        self.rows["meetings.csv"][0] |= fields
        return self

    def restriction(self, rule: str, kind: str, value: str, crn: str = "10001") -> "Campus":
        """One more restriction."""
        row = {"crn": crn, "rule": rule, "kind": kind, "value": value}
        self.rows["restrictions.csv"].append(row)
        return self

    def cross_list(self, code: str, crn: str = "10001") -> "Campus":
        """One more cross-list."""
        self.rows["cross_lists.csv"].append({"crn": crn, "course_id": code})
        return self

    def write(self, folder: Path, encoding: str = "utf-8", delimiter: str = ",") -> Path:
        """Write all files into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, columns in self.columns.items():
            with (folder / name).open("w", encoding=encoding, newline="") as out:
                named = columns.split()
                writer = csv.DictWriter(out, named, "", "ignore", delimiter=delimiter)
                writer.writeheader()
                writer.writerows(self.rows[name])
        (folder / "prerequisites.json").write_text(json.dumps(self.prerequisites), "utf-8")
        return folder


@dataclass(frozen=True)
class Made:
    """What an import made."""

    term: int
    sections: int
    courses: int
    report: Report
    counts: Counts


def nothing(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class Records(Stage):
    """The records of files, as imports compare them: by kind and key."""

    def __init__(self) -> None:
        super().__init__(None, 0)  # type: ignore[arg-type]  no database
        self.kinds: dict[str, dict[str, Any]] = defaultdict(dict)

    def put(self, kind: str, key: str, fields: dict[str, Any], *_row: object, **_: object) -> None:
        self.kinds[kind][key] = json.loads(json.dumps(fields))

    def known_records(self, term: str) -> KnownRecords:  # noqa: ARG002
        return KnownRecords()

    def subject_names(self) -> dict[str, str]:
        return {}

    @property
    def sections(self) -> dict[str, Any]:
        """Their fields by registration number."""
        return {key.split("\t")[1]: each for key, each in self.kinds["section"].items()}

    @property
    def instructors(self) -> list[str]:
        """The names of those who teach."""
        return [key.split("\t")[2] for key in self.kinds["teaching"]]


def read(folder: Path, **options: Any) -> tuple[Records, Report]:
    """The records of a folder and what there was to say of it; no database."""
    files, records = open_files(folder), Records()
    report = Report(sheets=files.sheets)
    chosen = Options(**{"term": "Spring 2021", **options})
    stage_semester(records, files, chosen, report, nothing)
    return records, report


def imported(folder: Path, name: str = "Spring 2021", **options: Any) -> Made:
    """The term that a folder becomes in the database."""
    report = Report()
    done = import_files(folder, Options(term=name, **options), report, nothing)
    [term] = done.terms
    sections, courses = (sum(done.counts[kind].values()) for kind in ("section", "course"))
    return Made(term, sections, courses, report, done.counts)


def section(term: int, crn: str = "10001") -> SectionView:
    """A section as pages know it."""
    with transaction() as session:
        sections = read_catalog(session, term).sections
    return next(each for each in sections if each.crn == crn)


def kinds(report: Report) -> dict[str, int]:
    """How often each kind was noted."""
    return {kind: count for _, kind, count in report.counts()}
