"""Students' actions on the ledger, one at a time."""

from typing import Any

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.types import Candidate, Decision, Reason
from portal.people.models import Student
from tests import cast as builders
from tests.ledger_claims import send_claim


def sections(term: Term, *capacities: int) -> list[Section]:
    """Store a section of its own course for each capacity."""
    return [
        builders.a_section(builders.a_course(f"CSC-{1100 + number}"), term, capacity=seats)
        for number, seats in enumerate(capacities)
    ]


def common_arguments(term: Term, student: Student) -> dict[str, Any]:
    """Return the arguments that every request has."""
    windows = [window.id for window in backend().ledger.windows(term.id)]
    result = {"actor": f"account:{student.account_id}", "correlation": "a-test"}
    return {"student": student.id, "request": None, "windows": windows, **result}


def claim(student: Student, section: Section, **fields: Any) -> Decision:
    """Claim a seat, or a waitlist position with `wait`."""
    choice = {"credits": 400, "limit": 9900, "wait": False, **fields}
    term = term_of(section)
    ask = common_arguments(term, student) | choice
    return send_claim(backend().ledger, term.id, section=section.id, **ask)


def drop(student: Student, section: Section) -> Decision:
    """Drop the seat."""
    term, days = term_of(section), [(0, "2030-01-01")]
    ask = common_arguments(term, student) | {"days": days, "drop_limit": 9}
    return backend().ledger.drop(term.id, section=section.id, **ask)


def leave(student: Student, section: Section) -> Decision:
    """Leave the waitlist."""
    ask = common_arguments(term := term_of(section), student)
    del ask["windows"]
    return backend().ledger.leave(term.id, section=section.id, **ask)


def promote(student: Student, section: Section, *rules: Reason) -> None:
    """Promote the student unless a rule refuses."""
    term = term_of(section)
    windows = tuple(common_arguments(term, student)["windows"])
    candidate = Candidate(student.id, windows, 9900, rules=rules)
    backend().ledger.promote(term.id, section.id, [candidate], "a-test")


def term_of(section: Section) -> Term:
    """Return the term of a section."""
    with transaction() as session:
        return session.get_one(Term, section.term_id)
