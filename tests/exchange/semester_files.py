"""The files of a semester: exported, edited as in a spreadsheet, and imported."""

import csv
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

from sqlalchemy import select

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.exchange.exporting.semester import semester_files, write_workbook
from portal.exchange.importing.models import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.runs import import_files
from tests.exchange.campus import Campus, nothing
from tests.exchange.makers import TERM
from tests.exchange.oneroster import moved

DATES = {"starts": date(2021, 1, 6), "ends": date(2021, 4, 30)}
Rows = list[dict[str, str]]


def campus() -> Campus:
    """A section with everything that the files can say, and another over its capacity."""
    made = Campus(capacity="30", enrolled="33", remaining="-3", note="=1+1\nTwo lines")
    made.rows["sections.csv"][0] |= {"campus": "North", "method": "Online", "attributes": "A;B"}
    made.rows["sections.csv"][0] |= {"consent": "Instructor Consent Required"}
    made.meets(instructors="Okafor; Byron, Ada", days="TU", location="Hall 1, East")
    made.meeting(meeting_type="TES", days="W", start_time="8:00AM", end_time="9:50PM")
    made.meeting(days="", start_time="", end_time="", meeting_type="LAB")
    made.section("10002", credits="1-4", capacity="0", section="002")
    made.restriction("must_be", "level", "Graduate").restriction("may_not_be", "major", "Physics")
    made.cross_list("MAT-1")
    made.prerequisites = {
        "10001": {
            "prerequisites": {
                "type": "and",
                "solo": ["CSC 1 with a minimum grade of B-", "CSC 2"],
                "nested": [{"type": "or", "solo": ["MAT 1", "MAT 2"], "nested": []}],
            },
            "corequisites": ["PHY 1"],
        }
    }
    return made


def section(crn: str = "10001") -> Section:
    with transaction() as session:
        return session.scalars(select(Section).where(Section.crn == crn)).one()


def exported(folder: Path, term: str = TERM) -> Path:
    """The files of a term in a new folder."""
    folder.mkdir()
    for name, content in semester_files(term).items():
        (folder / name).write_bytes(content)
    return folder


def only(folder: Path, name: str, *lines: str) -> Path:
    """Write a file that is alone in the folder."""
    for each in folder.iterdir():
        each.unlink()
    (folder / name).write_text("\n".join(lines) + "\n")
    return folder


def updated(folder: Path, **options: Any) -> tuple[dict[str, Any], Report]:
    """What an import of the folder changes."""
    report, chosen = Report(), {"term": TERM, "update": True, **options}
    done = import_files(folder, Options(**chosen), report, nothing)
    return moved(done.counts), report


def edit(folder: Path, file: str, change: Callable[[Rows], None]) -> None:
    """Edit a file as a spreadsheet would."""
    with (folder / file).open(encoding="utf-8-sig", newline="") as source:
        reader = csv.DictReader(source)
        columns, rows = list(reader.fieldnames or ()), list(reader)
    change(rows)
    with (folder / file).open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(rows)


def set_cell(folder: Path, file: str, column: str, value: str, row: int = 0) -> None:
    edit(folder, file, lambda rows: rows[row].update({column: value}))


def set_section(folder: Path, column: str, value: str, crn: str = "10001") -> None:
    def change(rows: Rows) -> None:
        [found] = [row for row in rows if row["crn"] == crn]
        found[column] = value

    edit(folder, "sections.csv", change)


def workbook(path: Path, term: str = TERM) -> Path:
    """The same as a workbook."""
    with path.open("wb") as out:
        write_workbook(term, out)
    return path
