"""Whole semesters as folders of files: one that is made up, and a real one where it is at hand."""

import os
from pathlib import Path
from random import Random

from portal.core.settings import ROOT
from tests.exchange.campus import COLUMNS, Campus

DATA = Path(os.environ.get("FAIRSEAT_DATA") or ROOT.parent / "shared" / "data")
REAL = DATA / "rpi-fall-2020"
EACH = ["made up", "real"] if REAL.is_dir() else ["made up"]

SECTIONS = 300
DEPARTMENTS = {
    "ART": ("Art and Media", "Humanities"),
    "CSC": ("Computing", "Science"),
    "ED-D": ("Educational Psychology", "Education"),
    "MATH": ("Mathematics", "Science"),
    "PHYS": ("Physics & Astronomy", "Science"),
}
SURNAMES = ["Byron", "Roe", "Okafor", "Lindqvist", "O’Hara", "Müller", "van-Dyk", "Kim"]
VALUES = {
    "level": ["Undergraduate", "Graduate"],
    "major": ["Elect Media, Arts, & Comm", "Physics", "Computing (Co-op)"],
    "classification": ["Freshman", "Junior", "Senior"],
    "field_of_study": ["Mathematics", "Cognitive Science"],
    "degree": ["Bachelor of Science"],
    "campus": ["Main Campus"],
    "college": ["Science", "Humanities, Arts, and Social Sciences"],
}
TIMES = [("8:00AM", "8:50AM"), ("10:00AM", "11:50AM"), ("12:20PM", "1:50PM"), ("6:00PM", "8:50PM")]
HALVES = [("2021-01-06", "2021-04-30"), ("2021-01-06", "2021-02-26"), ("2021-03-01", "2021-04-30")]


def term_of(name: str) -> str:
    """Return the term of a semester."""
    return "Fall 2020" if name == "real" else "Spring 2021"


def folder_of(name: str, folder: Path) -> Path:
    """Return the folder of one of EACH; a new one for the semester that is made up."""
    return REAL if name == "real" else write_semester(folder / "made up")


def write_semester(folder: Path, seed: int = 2021) -> Path:
    """Write a semester: equal for equal seeds, with what real ones have.

    That is: hyphenated subjects, several instructors, sections without times, half semesters,
    labs, ranges of credits, full and overfull sections, and all kinds of restrictions.
    """
    random, made = Random(seed), Campus()
    made.rows = {name: [] for name in COLUMNS}
    for code, (name, school) in DEPARTMENTS.items():
        row = {"dept_code": code, "dept_name": name, "school": school}
        made.rows["departments.csv"].append(row)
    for at in range(SECTIONS // 2):
        subject = random.choice(list(DEPARTMENTS))
        credits_ = random.choice(["1.5", "3", "4", "1-4"])
        title = f"Topics of {DEPARTMENTS[subject][0]} {at}"
        made.course(f"{subject}-{100 + at}", dept_code=subject, title=title, credits=credits_)
    codes = [row["course_id"] for row in made.rows["courses.csv"]]
    for at in range(SECTIONS):
        _add_section(made, random, f"{10001 + at}", at)
        if at % 20 == 0:
            before = random.sample(codes[:50], 3)
            tree = {"type": "or", "solo": before[:2], "nested": []}
            made.prerequisites[f"{10001 + at}"] = {"prerequisites": tree}
    return made.write(folder)


def _add_section(made: Campus, random: Random, crn: str, at: int) -> None:
    """Add a section of the next course, with meetings and restrictions."""
    course = made.rows["courses.csv"][at // 2]
    capacity = random.choice([0, 12, 30, 120])
    taken = random.choice([0, capacity // 2, capacity, capacity + 2])
    first, last = random.choice(HALVES)
    made.rows["sections.csv"].append(
        {
            "term": "SPRING 2021",
            "crn": crn,
            "course_id": course["course_id"],
            "section": f"{at % 2 + 1:02}",
            "section_title": course["title"],
            "credits": course["credits"],
            "capacity": f"{capacity}",
            "enrolled": f"{taken}",
            "remaining": f"{capacity - taken}",
        }
    )
    kinds = [("LEC", "MR"), ("LAB", "W")][: random.randint(1, 2)]
    for number, (kind, days) in enumerate(kinds, 1):
        starts, ends = random.choice(TIMES)
        times = {"days": days, "start_time": starts, "end_time": ends}
        if random.random() < 0.2:
            times = {"days": "", "start_time": "TBA", "end_time": "TBA"}
        made.meeting(
            crn=crn,
            meeting_no=f"{number}",
            meeting_type=kind,
            date_start=first,
            date_end=last,
            location=random.choice(["", "Hall 1", "Elliott Building 167"]),
            instructors="/".join(random.sample(SURNAMES, random.randint(1, 3))),
            **times,
        )
    for kind in random.sample(list(VALUES), random.choice([0, 0, 1, 2])):
        rule = random.choice(["must_be", "may_not_be"])
        for value in random.sample(VALUES[kind], random.randint(1, len(VALUES[kind]))):
            made.restriction(rule, kind, value, crn)
