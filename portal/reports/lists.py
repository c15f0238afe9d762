"""The rows of a result with the names that people know."""

from typing import Any

from sqlalchemy import select

from portal.catalog.term_catalog import TermCatalog
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.registration.next_steps import section_name
from portal.registration.reasons import label
from portal.reports.models import WindowReport

Row = dict[str, Any]


def sections(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Sections by code, with their counts at the closing."""
    found = [{**row, **_called(offered, row["section"])} for row in made.result["sections"]]
    return sorted(found, key=lambda row: str(row["code"]))


def under_filled(rows: list[Row], percent: int) -> list[Row]:
    """Those of the sections that have filled less than so much of their seats."""
    return [row for row in rows if row["taken"] * 100 < row["capacity"] * percent]


def waiters(offered: TermCatalog, made: WindowReport) -> list[Row]:
    """Who still waited as the window closed, and why they were passed over if they were."""
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
