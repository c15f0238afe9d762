"""A lecture and its lab are had together or not at all, and given up together."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders


@dataclass(frozen=True)
class Pair:
    """A lecture of two seats, and its labs: one with one seat and one with two."""

    lecture: Section
    small: Section
    large: Section


@pytest.fixture
def pair(course: Course, term: Term) -> Pair:
    lab = builders.a_course(f"{course.code}-L", credits=1)
    needs = [{"corequisites": {"course": code}} for code in (lab.code, course.code)]
    pair = Pair(
        builders.a_section(course, term, capacity=2, **needs[0]),
        builders.a_section(lab, term, capacity=1, **needs[1]),
        builders.a_section(lab, term, capacity=2, **needs[1]),
    )
    builders.an_open_window(term)
    return pair


def choose(person: Person, lab: Section) -> None:
    """The lab to go with the lecture."""
    person.page.locator(f'input[type=radio][value="{lab.id}"]').check()


def wait_for_the_lab(pair: Pair, *people: Person) -> None:
    """Each takes the lecture and the lab of one seat, or waits for the lab."""
    for person in people:
        person.ask(pair.lecture)
        choose(person, pair.small)
        person.dialog.get_by_role("checkbox").check()
        person.confirm()


def test_who_is_late_for_the_lab_gets_neither_and_chooses_another(
    meet: Meet, portal: Running, term: Term, pair: Pair
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    for person in (ada, ben):
        person.ask(pair.lecture)
        choose(person, pair.small)
    ada.confirm()
    for section in (pair.lecture, pair.small):
        ada.has(section, "selected")
    expect(ben.seats(pair.small)).to_contain_text("0 of 1")

    ben.dialog.get_by_role("button", name="Add them together").click()
    expect(ben.dialog.get_by_role("alert")).to_contain_text("is full")
    for section in (pair.lecture, pair.small):
        ben.has(section, "")
    choose(ben, pair.large)
    ben.confirm()
    for section in (pair.lecture, pair.large):
        ben.has(section, "selected")
    portal.audit(term.name)


def test_one_is_taken_and_the_other_waited_for_where_that_is_welcome(
    meet: Meet, portal: Running, term: Term, pair: Pair
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    wait_for_the_lab(pair, ada, ben)
    ben.has(pair.lecture, "selected")
    ben.has(pair.small, "waiting")

    ada.ask(pair.lecture)
    expect(ada.dialog).to_contain_text("You can’t drop this class now")
    ada.dialog.get_by_role("link", name="Drop both").click()
    expect(ada.dialog).to_contain_text("counts as one drop")
    ada.confirm()
    for section in (pair.lecture, pair.small):
        ada.has(section, "")
    ben.has(pair.small, "selected")
    portal.audit(term.name)


def test_the_waitlist_that_a_seat_needs_is_left_together_with_the_seat(
    meet: Meet, portal: Running, term: Term, pair: Pair
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    wait_for_the_lab(pair, ada, ben)
    ben.has(pair.small, "waiting")
    expect(ben.mine).to_contain_text("If you leave the waitlist, you drop both.")

    ben.ask(pair.small)
    expect(ben.dialog).to_contain_text("To leave the waitlist, you must drop")
    ben.dialog.get_by_role("link", name="and leave the waitlist").click()
    ben.dialog.get_by_role("button", name="Drop and leave waitlist").click()
    expect(ben.dialog).to_be_hidden()
    for section in (pair.lecture, pair.small):
        ben.has(section, "")
    expect(ben.page.locator("#toasts")).to_contain_text("You left the waitlist for")
    portal.audit(term.name)


def test_without_scripts_it_is_the_same(meet: Meet, term: Term, pair: Pair) -> None:
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.cell(pair.lecture).get_by_role("link").first.click()
    choose(ada, pair.large)
    ada.page.get_by_role("button", name="Add them together").click()
    for section in (pair.lecture, pair.large):
        ada.has(section, "selected")
    ada.cell(pair.large).get_by_role("link", name="Drop").click()
    ada.page.get_by_role("link", name="Drop both").click()
    ada.page.get_by_role("button", name="Drop both").click()
    for section in (pair.lecture, pair.large):
        ada.has(section, "")
    expect(ada.page.get_by_role("status").first).to_contain_text(
        "You can drop 2 more classes today"
    )
