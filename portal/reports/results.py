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
from portal.reports.window_history import Attempts, Gathered

Result = dict[str, Any]
NONE = Attempts()
RUNNING = ("OPEN", "CONFIRMED")


def result(found: Gathered) -> Result:
    """Return the report as stored."""
    return {
        "students": _students(found),
        "counts": dict(found.counts),
        "sections": _sections(found),
        "cohorts": _cohorts(found),
        "reasons": _reasons(found),
        "waiters": _waiters(found),
    }


def _students(found: Gathered) -> dict[str, int]:
    tried = found.attempts.values()
    return {
        "all": len(found.members),
        "asked": sum(1 for each in tried if each.asks),
        "seated": sum(1 for each in tried if each.seats),
    }


def _sections(found: Gathered) -> list[dict[str, int]]:
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


def _cohorts(found: Gathered) -> list[dict[str, Any]]:
    waits = Counter(student for _, student in _places(found))
    rows: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for student, member in found.members.items():
        tried = found.attempts.get(student, NONE)
        counted = {
            "students": 1,
            "asked": int(bool(tried.asks)),
            "seated": int(bool(tried.seats)),
            "seats": len(tried.seats),
            "waiting": int(waits[student] > 0),
        }
        rows[member.level, member.year].update(counted)
    return [
        {"level": level, "year": year, **rows[level, year]}
        for level, year in sorted(rows, key=lambda each: (year_order(each[1]), each[0]))
    ]


def _reasons(found: Gathered) -> list[dict[str, Any]]:
    refusals: Counter[str] = Counter()
    students: Counter[str] = Counter()
    for tried in found.attempts.values():
        refusals.update(tried.refusals)
        students.update(tried.refusals.keys())
    return [
        {"code": code, "refusals": count, "students": students[code]}
        for code, count in refusals.most_common()
    ]


def _waiters(found: Gathered) -> list[dict[str, Any]]:
    """Return the cohort's students who wait at the closing, in the order of each waitlist."""
    lists: dict[int, list[int]] = defaultdict(list)
    tickets = {key: row["ticket"] for key, row in found.state.places.items() if _waits(row)}
    for section, student in sorted(tickets, key=tickets.__getitem__):
        lists[section].append(student)
    return [
        {
            "section": section,
            "student": student,
            "position": position,
            "reasons": [why["code"] for why in found.state.places[section, student]["reasons"]],
        }
        for section in sorted(lists)
        for position, student in enumerate(lists[section], 1)
        if student in found.members
    ]


def _places(found: Gathered) -> list[tuple[int, int]]:
    return [key for key, row in found.state.places.items() if _waits(row)]


def _waits(row: dict[str, Any]) -> bool:
    return row["state"] in {"waiting", "passed"}


# The rows of a result with readable names.

Row = dict[str, Any]


def sections(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Return the sections by code, with their counts at the closing."""
    found = [{**row, **_called(offered, row["section"])} for row in made.result["sections"]]
    return sorted(found, key=lambda row: str(row["code"]))


def under_filled(rows: list[Row], percent: int) -> list[Row]:
    """Return the sections with less than this percentage of their seats filled."""
    return [row for row in rows if row["taken"] * 100 < row["capacity"] * percent]


def waiters(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Return who still waited at the closing, and why they were skipped if they were."""
    rows = made.result["waiters"]
    people = _people({row["student"] for row in rows})
    return [
        {
            **row,
            **_called(offered, row["section"]),
            "number": people[row["student"]][0],
            "name": people[row["student"]][1],
            "why": ", ".join(label(code) for code in row["reasons"]),
        }
        for row in rows
    ]


def _people(students: set[int]) -> dict[int, tuple[str, str]]:
    query = select(Student.id, Student.number, Account.name).join(Account)
    with transaction() as session:
        found = session.execute(query.where(Student.id.in_(students)))
        return {student: (number, name) for student, number, name in found}


def _called(offered: TermCatalog, section: int) -> Row:
    card = offered.section(section)
    if card is None:
        return {"code": f"#{section}", "called": f"#{section}", "crn": "", "title": ""}
    return {
        "code": f"{card.course_code}-{card.number}",
        "called": section_name(card),
        "crn": card.crn,
        "title": card.title,
    }
