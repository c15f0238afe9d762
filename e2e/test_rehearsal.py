"""Who watches a rehearsal sees made-up students take its seats."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.operations.rehearsal import practice_term
from portal.operations.rehearsal.practice_term import PracticeTerm
from portal.operations.rehearsal.student import Student

PASSWORD = "let us practise"


@pytest.fixture
def practice(portal: Running) -> Iterator[PracticeTerm]:
    """A practice term whose window is open, deleted after the story."""
    made = practice_term.make(2, PASSWORD)
    now = portal.backend.ledger.now()
    practice_term.open_window(made, now - 1000, now + 3_600_000)
    yield made
    with transaction() as session:
        practice_term.delete_all(session)


def test_an_admin_and_a_student_watch_the_seats_of_a_rehearsal(
    meet: Meet, portal: Running, practice: PracticeTerm
) -> None:
    with transaction() as session:
        term = session.get_one(Term, practice.id)
        section = session.get_one(Section, practice.sections[0])
    seats = section.capacity
    boss = meet("max")
    boss.go(f"/admin/terms/{term.id}/sections")
    ada = meet("ada")
    ada.go(f"/terms/{term.id}?q={section.crn}")
    expect(boss.seats(section)).to_contain_text(f"0 of {seats} enrolled")
    expect(ada.seats(section)).to_contain_text(f"{seats} of {seats}")
    made_up = Student(portal.address, term.id, practice.usernames[0], lambda _answer: None)
    made_up.log_in(PASSWORD)
    made_up.enter()
    assert made_up.claim(section.id, waits=False) == "seat"
    expect(boss.seats(section)).to_contain_text(f"1 of {seats} enrolled")
    expect(ada.seats(section)).to_contain_text(f"{seats - 1} of {seats}")
    portal.audit(term.name)
