"""What students do at the ledger, step by step."""

from typing import Any

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.types import Candidate, Decision, Reason
from portal.people.models import Student
from tests import cast as builders


def sections(term: Term, *capacities: int) -> list[Section]:
    """A section of a course of its own for each capacity."""
    return [
        builders.a_section(builders.a_course(f"CSC-{1100 + number}"), term, capacity=seats)
        for number, seats in enumerate(capacities)
    ]


def asked(term: Term, student: Student) -> dict[str, Any]:
    """What the ledger is asked by every student."""
    windows = [window.id for window in backend().ledger.windows(term.id)]
    said = {"actor": f"account:{student.account_id}", "correlation": "a-test"}
    return {"student": student.id, "request": None, "windows": windows, **said}


def claim(student: Student, section: Section, **fields: Any) -> Decision:
    """A seat, or a place in line where the student would `wait`."""
    wish = {"credits": 400, "limit": 9900, "wait": False, **fields}
    term = term_of(section)
    return backend().ledger.claim(term.id, section=section.id, **asked(term, student), **wish)


def drop(student: Student, section: Section) -> Decision:
    """The seat is given up."""
    term, days = term_of(section), [(0, "2030-01-01")]
    ask = asked(term, student) | {"days": days, "drop_limit": 9}
    return backend().ledger.drop(term.id, section=section.id, **ask)


def leave(student: Student, section: Section) -> Decision:
    """The place in line is given up."""
    ask = asked(term := term_of(section), student)
    del ask["windows"]
    return backend().ledger.leave(term.id, section=section.id, **ask)


def promote(student: Student, section: Section, *rules: Reason) -> None:
    """The free seat goes to the student, unless a rule stands in the way."""
    term = term_of(section)
    windows = tuple(asked(term, student)["windows"])
    candidate = Candidate(student.id, windows, 9900, rules=rules)
    backend().ledger.promote(term.id, section.id, [candidate], "a-test")


def term_of(section: Section) -> Term:
    """The term of a section."""
    with transaction() as session:
        return session.get_one(Term, section.term_id)
