"""Students' actions on the ledger, one at a time."""

from typing import Any

from portal.backend import backend
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.types import Candidate, Decision, Reason, RequestContext
from portal.people.models import Student
from tests import cast as builders
from tests.ledger_claims import send_claim


def sections(term: Term, *capacities: int) -> list[Section]:
    """Store a section of its own course for each capacity."""
    return [
        builders.a_section(builders.a_course(f"CSC-{1100 + number}"), term, capacity=seats)
        for number, seats in enumerate(capacities)
    ]


def windows_of(term: Term) -> tuple[int, ...]:
    """Return every window of the term."""
    return tuple(window.id for window in backend().ledger.windows(term.id))


def context(term: Term, student: Student) -> RequestContext:
    return RequestContext(term.id, student.id, f"account:{student.account_id}", "a-test")


def claim(student: Student, section: Section, **fields: Any) -> Decision:
    """Claim a seat, or a waitlist position with `wait`."""
    term = term_of(section)
    windows = windows_of(term)
    choice = {"credits": 400, "credit_limit": 9900, "wait": False, "windows": windows, **fields}
    ask = vars(context(term, student)) | choice
    return send_claim(backend().ledger, section=section.id, **ask)


def drop(student: Student, section: Section) -> Decision:
    """Drop the seat."""
    term, days = term_of(section), [(0, "2030-01-01")]
    return backend().ledger.drop(
        context(term, student), section.id, windows=windows_of(term), days=days, drop_limit=9
    )


def leave(student: Student, section: Section) -> Decision:
    """Leave the waitlist."""
    return backend().ledger.leave(context(term_of(section), student), section.id)


def promote(student: Student, section: Section, *rules: Reason) -> None:
    """Promote the student unless a rule refuses."""
    term = term_of(section)
    candidate = Candidate(student.id, windows_of(term), 9900, rules=rules)
    backend().ledger.promote(term.id, section.id, [candidate], "a-test")


def term_of(section: Section) -> Term:
    """Return the term of a section."""
    with transaction() as session:
        return session.get_one(Term, section.term_id)
