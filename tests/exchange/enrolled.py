"""Who is in what once an import has seated students, in books that agree."""

from typing import Any

from sqlalchemy import select, text

from portal.catalog.models import Section, Term
from portal.catalog.term_catalog import forget
from portal.core.db import transaction
from portal.ledger.types import Outcome
from portal.people.models import Account, Student
from portal.recorder.consistency.audit import audit_term
from portal.recorder.recorder import drain
from portal.registration import limits
from tests import cast as builders
from tests import register
from tests.exchange.makers import change_rows

ROSTER = """
    SELECT crn, students.number FROM enrollments
    JOIN sections ON sections.id = section_id JOIN students ON students.id = student_id
    WHERE state = 'enrolled' ORDER BY crn, students.number
"""


def the_term() -> Any:
    """The only term that there is."""
    with transaction() as session:
        return session.scalars(select(Term)).one()


def the_account(username: str) -> Account:
    """An account, also a removed one."""
    with transaction() as session:
        return session.scalars(select(Account).where(Account.username == username)).one()


def publish() -> None:
    """Let students see the imported terms."""
    change_rows(Term, state="published")
    forget()


def wait_in_line(number: str, crn: str) -> None:
    """The student asks for a seat in a section, and gets a place in line."""
    publish()
    builders.an_open_window(the_term())
    limits.forget_windows()
    with transaction() as session:
        student = session.scalars(select(Student.id).where(Student.number == number)).one()
        section = session.scalars(select(Section.id).where(Section.crn == crn)).one()
    decided = register.claim(student, the_term().id, section, wait=True)
    assert decided.outcome == Outcome.WAITLISTED


def roster() -> list[tuple[str, str]]:
    """Section and student, with the ledger, the log and the read models agreeing."""
    with transaction() as session:
        terms = session.scalars(select(Term.id)).all()
    for term in terms:
        drain(term, seconds=0)
        report = audit_term(term)
        assert report["clean"], report["differences"]
    with transaction() as session:
        return [(crn, number) for crn, number in session.execute(text(ROSTER))]
