"""Sections that meet at one time, and files that change their meetings."""

from datetime import time
from pathlib import Path
from typing import Any

from portal.exchange.importing.report import Report
from tests.exchange.campus import section
from tests.exchange.semester_files import only, updated

MONDAY, TUESDAY, WEDNESDAY, THURSDAY, FRIDAY = (1 << day for day in range(5))
TR, MWF = TUESDAY | THURSDAY, MONDAY | WEDNESDAY | FRIDAY
WHEN = {
    "days": "TR",
    "start_time": "1:00PM",
    "end_time": "1:50PM",
    "location": "SAGE 11",
    "date_start": "2021-02-01",
    "date_end": "2021-03-31",
}
LECTURE = (TR, time(13), time(13, 50), "SAGE 11")


def update(folder: Path, *lines: str, name: str = "schedule.csv", **options: Any) -> Report:
    """Update the term by one file; beside meetings.csv it takes one that names both sections."""
    only(folder, name, *lines)
    if name != "schedule.csv":
        sections = "crn,course_id\n10001,CSC-225\n10002,CSC-225\n"
        (folder / "sections.csv").write_text(sections)
    return updated(folder, **options)[1]


def meetings(term: int, crn: str = "10001") -> list[tuple[Any, ...]]:
    found = section(term, crn).meetings
    return [(each.mask, clock(each.start), clock(each.end), each.room) for each in found]


def clock(minutes: int | None) -> time | None:
    return None if minutes is None else time(minutes // 60, minutes % 60)
