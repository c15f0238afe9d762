"""An admin rehearses an opening; whoever watches sees made-up students take its seats."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.rehearsal import term as terms
from portal.rehearsal.student import Student
from portal.rehearsal.term import Practice
from tests import cast as builders

NUMBER, PASSWORD = 9999, "let us practise"


@pytest.fixture
def practice(portal: Running) -> Iterator[Practice]:
    """A practice term whose window is open, deleted after the story."""
    made = terms.make(NUMBER, 2, PASSWORD)
    now = portal.backend.ledger.now()
    terms.schedule(made, now - 1000, now + 3_600_000)
    yield made
    with transaction() as session:
        terms.retire(session, NUMBER)


def test_an_admin_and_a_student_watch_the_seats_of_a_rehearsal(
    meet: Meet, portal: Running, practice: Practice
) -> None:
    with transaction() as session:
        term = session.get_one(Term, practice.term)
        section = session.get_one(Section, practice.sections[0])
    seats = section.capacity
    boss = meet("max")
    boss.go(f"/admin/terms/{term.id}/sections")
    ada = meet("ada")
    ada.go(f"/terms/{term.id}?q={section.crn}")
    for person in (boss, ada):
        expect(person.seats(section)).to_contain_text(f"{seats} of {seats}")
    made_up = Student(portal.address, term.id, practice.usernames[0], lambda _answer: None)
    made_up.log_in(PASSWORD)
    made_up.come()
    assert made_up.take(section.id, waits=False) == "seat"
    for person in (boss, ada):
        expect(person.seats(section)).to_contain_text(f"{seats - 1} of {seats}")
    portal.audit(term.name)


def test_an_admin_begins_one_by_a_button_and_stops_it(meet: Meet) -> None:
    window = builders.an_open_window(builders.a_term())
    boss = meet("max")
    boss.go("/admin/operations")
    boss.page.get_by_role("link", name="Rehearsals").click()
    boss.page.get_by_label("Students").fill("3")
    boss.page.get_by_label("Minutes").fill("120")
    boss.page.get_by_role("button", name="Rehearse").click()
    expect(boss.page.get_by_role("main")).to_contain_text(f"{window.name} of")
    boss.page.get_by_label("Rehearse all the same").check()
    boss.page.get_by_role("button", name="Rehearse").click()
    shown = boss.page.locator("#rehearsal")
    expect(shown.get_by_role("status")).to_contain_text("Lobby")
    expect(shown.get_by_role("link", name="Watch its seats move")).to_be_visible()
    shown.get_by_role("button", name="Stop it").dispatch_event("click")
    expect(shown.get_by_role("status")).to_contain_text("What was measured until then")
    expect(shown).to_contain_text("no difference")
