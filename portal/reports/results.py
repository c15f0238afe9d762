"""The result of a window at its closing: seats, cohorts, refusals, and who still waits."""

from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import select

from portal.catalog.term_catalog import TermCatalog
from portal.core.db import transaction
from portal.people.models import Account, Student, year_order
from portal.registration.next_steps import section_name
from portal.registration.reasons import label
from portal.reports.models import WindowReport
from portal.reports.window_history import Attempts, WindowHistory

Result = dict[str, Any]
Row = dict[str, Any]
NONE = Attempts()
RUNNING = ("OPEN", "CONFIRMED")


def result(found: WindowHistory) -> Result:
    """Return the report as stored."""
    tried = found.attempts.values()
    refusals: Counter[str] = Counter()
    refused: Counter[str] = Counter()  # students
    for each in tried:
        refusals.update(each.refusals)
        refused.update(each.refusals.keys())
    waiting = {
        key: row
        for key, row in found.state.waitlist.items()
        if row["state"] in {"waiting", "passed"}
    }
    return {
        "students": {
            "all": len(found.members),
            "asked": sum(1 for each in tried if each.requests),
            "seated": sum(1 for each in tried if each.seats),
        },
        "counts": dict(found.counts),
        "sections": _sections(found),
        "cohorts": _cohorts(found, Counter(student for _section, student in waiting)),
        "reasons": [
            {"code": code, "refusals": count, "students": refused[code]}
            for code, count in refusals.most_common()
        ],
        "waiters": _waiters(found, waiting),
    }


def _sections(found: WindowHistory) -> list[dict[str, int]]:
    """Return the sections that run, with counts at the closing and changes in the window."""
    return [
        {
            "section": section,
            "capacity": row["capacity"],
            "taken": row["prior"] + row["enrolled"],
            "waiting": row["waiting"],
            "given": found.given[section],
            "refused": found.refused[section],
        }
        for section, row in sorted(found.state.seats.items())
        if row["status"] in RUNNING
    ]


def _cohorts(found: WindowHistory, waits: Counter[int]) -> list[dict[str, Any]]:
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for student, member in found.members.items():
        tried = found.attempts.get(student, NONE)
        counted = {
            "students": 1,
            "asked": int(bool(tried.requests)),
            "seated": int(bool(tried.seats)),
            "seats": len(tried.seats),
            "waiting": int(waits[student] > 0),
        }
        rows[member.level, member.year].update(counted)
    return [
        {"level": level, "year": year, **rows[level, year]}
        for level, year in sorted(rows, key=lambda each: (year_order(each[1]), each[0]))
    ]


def _waiters(found: WindowHistory, waiting: dict[tuple[int, int], Row]) -> list[Row]:
    """Return the cohort's students who wait at the closing, in the order of each waitlist."""
    listed, positions = [], Counter[int]()
    order = {key: (row["band"], row["ticket"]) for key, row in waiting.items()}
    for section, student in sorted(waiting, key=lambda key: (key[0], order[key])):
        positions[section] += 1
        if student in found.members:
            listed.append(
                {
                    "section": section,
                    "student": student,
                    "position": positions[section],
                    "reasons": [why["code"] for why in waiting[section, student]["reasons"]],
                }
            )
    return listed


# The rows of a result with readable names.


def sections(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Return the sections by code, with their counts at the closing."""
    found = [{**row, **_names(offered, row["section"])} for row in made.result["sections"]]
    return sorted(found, key=lambda row: str(row["code"]))


def under_filled(rows: list[Row], percent: int) -> list[Row]:
    """Return the sections with less than this percentage of their seats filled."""
    return [row for row in rows if row["taken"] * 100 < row["capacity"] * percent]


def waiters(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Return who still waited at the closing, and why they were skipped if they were."""
    rows = made.result["waiters"]
    query = select(Student.id, Student.number, Account.name).join(Student.account)
    with transaction() as session:
        found = session.execute(query.where(Student.id.in_({row["student"] for row in rows})))
        people = {student: {"number": number, "name": name} for student, number, name in found}
    return [
        {
            **row,
            **_names(offered, row["section"]),
            **people[row["student"]],
            "why": ", ".join(label(code) for code in row["reasons"]),
        }
        for row in rows
    ]


def _names(offered: TermCatalog, section: int) -> Row:
    section_view = offered.section(section)
    if section_view is None:
        name = offered.gone.get(section) or f"#{section}"
        return {"code": name, "called": name, "crn": "", "title": ""}
    return {
        "code": f"{section_view.course_code}-{section_view.number}",
        "called": section_name(section_view),
        "crn": section_view.crn,
        "title": section_view.title,
    }
