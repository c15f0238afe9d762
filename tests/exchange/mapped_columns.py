"""The page on which an admin says what the columns of files mean."""

import csv
import re
from html import unescape
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient

from portal.exchange.importing import columns, runs
from portal.exchange.importing.models import Meanings
from tests.exchange.class_schedules import ALGORITHMS

# Headings of a class schedule that no import knows, with what they mean.
UNKNOWN = {
    "Ref": "crn",
    "Area": "subject",
    "Catalogue": "course_number",
    "Group": "section",
    "Named": "section_title",
    "Points": "credits",
    "Places": "capacity",
    "Gone": "enrolled",
    "Left": "remaining",
    "Queue": "wait_capacity",
    "On": "days",
    "At": "times",
    "Period": "dates",
    "Site": "location",
    "Lecturer": "instructors",
    "Who may": "restrictions",
}
LINE = dict(zip(UNKNOWN, ALGORITHMS.values(), strict=False)) | {"Who may": ""}
# By heading, a field of the form and the value that is chosen there.
Columns = dict[str, tuple[str, str]]


def columns_page(browser: FlaskClient, import_id: int) -> str:
    """Return the page."""
    answer = browser.get(f"/admin/imports/{import_id}/columns")
    assert answer.status_code == 200, answer.text
    return unescape(answer.text)


def columns_of(page: str) -> Columns:
    """Return the columns on a page with their chosen meanings."""
    found: Columns = {}
    rows = r'<label for="(t\d+_\d+)"><bdi>(.*?)</bdi>.*?<select(.*?)</select>'
    for name, heading, select in re.findall(rows, page, re.DOTALL):
        chosen = re.search(r'<option selected value="(\w*)"', select)
        found[heading] = name, chosen[1] if chosen else ""
    return found


def choose(browser: FlaskClient, import_id: int, *, mapping: str = "", **meanings: str) -> Any:
    """Choose what some columns mean, leave the others as shown, and do what a worker would."""
    shown = columns_of(columns_page(browser, import_id))
    form = {name: meanings.get(heading, chosen) for heading, (name, chosen) in shown.items()}
    answer = browser.post(f"/admin/imports/{import_id}/columns", data=form | {"mapping": mapping})
    runs.continue_import(import_id)
    return answer


def rename_headings(folder: Path, target: Path) -> Meanings:
    """Copy the files of a semester with headings such as `sections 1`; return what these mean."""
    found: Meanings = {}
    target.mkdir()
    for file in folder.iterdir():
        if file.suffix != ".csv":
            (target / file.name).write_bytes(file.read_bytes())
            continue
        with file.open(encoding="utf-8-sig", newline="") as source:
            header, *rows = csv.reader(source)
        written = [f"{file.stem} {number}" for number in range(1, len(header) + 1)]
        offered = columns.choices(file.name)
        meant = [column if column in offered else "" for column in header]
        found[file.name] = [list(pair) for pair in zip(written, meant, strict=True)]
        with (target / file.name).open("w", encoding="utf-8", newline="") as out:
            csv.writer(out).writerows([written, *rows])
    return found
