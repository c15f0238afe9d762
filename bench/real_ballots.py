"""Ballots made from the survey of the University of Massachusetts (arXiv 2502.10592).

A student's choices are the courses with an interest of 4 to 8 (8: needed for a requirement), the
highest first, at most 12; equal ones are in the order of a hash, so that no course gains by its
number. The sections of a course are alternatives of one choice. An answer on fewer than 20 courses
is left out as incomplete.
"""

import csv
import hashlib
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from portal.allocation.problem import Ballot, Choice, Meeting, Problem, Section, Settings, make

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FAIRSEAT_DATA") or ROOT.parent / "shared" / "data")
FOLDER = DATA / "umass-preferences"
DAYS = {"Mon": 1, "Tue": 2, "Wed": 4, "Thu": 8, "Fri": 16}
STATUS = {"1": "freshman", "2": "sophomore", "3": "junior", "4": "senior", "5": "MS", "6": "PhD"}
LEAST_INTEREST, MOST_CHOICES, COMPLETE = 4, 12, 20
TERM = (0, 100)  # first and last day


def problem(folder: Path = FOLDER, seats: float = 1.0) -> Problem:
    """Return a round of the real ballots; `seats` scales the capacities, rounded up."""
    sections = {each.id: each for each in _sections(folder, seats)}
    return make(Settings(tuple(sections.values())), _ballots(folder, sections))


def _sections(folder: Path, seats: float) -> Iterator[Section]:
    with (folder / "courses.csv").open(newline="", encoding="utf-8") as rows:
        for row in csv.DictReader(rows):
            yield Section(
                id=f"{row['Catalog']}-{row['Section'][:2]}",
                course=row["Catalog"],
                capacity=-int(-float(row["Enrl Capacity"]) * seats // 1),
                credits=100 * int(row["Credits"][:1]),
                meetings=_meetings(row["zc.days"], row["Mtg Time"]),
            )


def _meetings(days: str, times: str) -> tuple[Meeting, ...]:
    found = re.findall(r"(\d+):(\d+) ([AP])M", times)
    mask = sum(DAYS[each] for each in days.split() if each in DAYS)
    if len(found) != 2 or not mask:
        return ()
    start, end = (
        int(hour) % 12 * 60 + int(minute) + 720 * (half == "P") for hour, minute, half in found
    )
    return ((mask, start, end, *TERM),)


def _ballots(folder: Path, sections: dict[str, Section]) -> Iterator[Ballot]:
    with (folder / "columns.csv").open(encoding="utf-8") as lines:
        asked = dict(line.rstrip("\n").split("|", 1) for line in lines)
    with (folder / "survey.csv").open(newline="", encoding="utf-8") as rows:
        head, *answers = csv.reader(rows)
    columns = [_section_of(asked.get(name, "")) for name in _unique(head)]
    for answer in answers:
        rated = {
            section: int(value)
            for section, value in zip(columns, answer, strict=True)
            if section in sections and value.isdigit()
        }
        if len(rated) >= COMPLETE and answer[1] in STATUS:
            yield Ballot(
                pseudonym=_hash(answer[0]),
                choices=tuple(_choices(answer[0], rated, sections)),
                most_credits=99_00,
                most_courses=int(answer[2] or 4),
                cohorts=(STATUS[answer[1]],),
            )


def _choices(who: str, rated: dict[str, int], sections: dict[str, Section]) -> Iterator[Choice]:
    courses: dict[str, list[str]] = defaultdict(list)
    for section in sorted(rated, key=lambda each: (-rated[each], _hash(f"{who} {each}"))):
        if rated[section] >= LEAST_INTEREST:
            courses[sections[section].course].append(section)
    for names in list(courses.values())[:MOST_CHOICES]:
        yield Choice(tuple((name,) for name in names))


def _section_of(question: str) -> str:
    found = re.search(r"DEPT (\d+)(?:-(\d\d))?", question)
    return f"{found[1]}-{found[2] or '01'}" if found else ""


def _unique(head: list[str]) -> Iterator[str]:
    """Yield the names of the columns as columns.csv has them: a second one ends in `.1`."""
    seen: Counter[str] = Counter()
    for name in head:
        yield f"{name}.1" if seen[name] else name
        seen[name] += 1


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
