"""Ada exchanges a seat for a better one while Ben looks on: it never costs her the old one."""

from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, expect

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Meets

MORNING = (Meets("MR", "10:00", "11:50"),)
EVENING = (Meets("TF", "18:00", "19:50"),)


@dataclass(frozen=True)
class Siblings:
    """Two sections of a course with one seat each."""

    old: Section
    new: Section


@pytest.fixture
def pair(course: Course, term: Term) -> Siblings:
    sections = (
        builders.a_section(course, term, capacity=1, meetings=meets) for meets in (MORNING, EVENING)
    )
    pair = Siblings(*sections)
    builders.an_open_window(term)
    return pair


def toasts(person: Person) -> Locator:
    return person.page.locator("#toasts")


def test_the_old_seat_goes_at_once_to_the_one_who_waits_for_it(
    meet: Meet, portal: Running, term: Term, pair: Siblings
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(pair.old)
    ben.pick(pair.old)
    ben.has(pair.old, "waiting")

    ada.ask(pair.new)  # of the same course, so it is the exchange that is asked for
    expect(ada.dialog).to_contain_text("You drop")
    ada.confirm()
    expect(toasts(ada)).to_contain_text("Swapped")
    expect(toasts(ada).locator(".receipt-code").last).to_be_visible()
    ada.has(pair.new, "selected")
    ada.has(pair.old, "")
    expect(ada.mine.locator("li")).to_have_count(1)

    ben.has(pair.old, "selected")
    expect(toasts(ben)).to_contain_text("You got a seat")
    expect(ben.seats(pair.new)).to_contain_text("0 of 1")
    expect(ada.seats(pair.old)).to_contain_text("0 of 1")
    portal.audit(term.name)


def test_a_swap_that_can_only_be_refused_is_not_offered(
    meet: Meet, term: Term, course: Course
) -> None:
    old, new = (
        builders.a_section(course, term, capacity=1, waitlist=0, meetings=meets)
        for meets in (MORNING, EVENING)
    )
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(old)
    expect(ada.cell(new).locator(".on-seat")).to_be_visible()
    ben.pick(new)
    act = ada.cell(new).get_by_role("link")
    expect(act).to_contain_text("Full")
    expect(act.get_by_text("Swap")).to_have_count(2)
    for word in act.get_by_text("Swap").all():
        expect(word).to_be_hidden()
    ada.ask(new)
    expect(ada.dialog).to_contain_text("is full")
    expect(ada.dialog.get_by_role("button", name="Swap")).to_have_count(0)
    ada.go(f"/terms/{term.id}/sections/{old.id}/swaps")
    expect(ada.page.locator(".swaps")).to_contain_text("Full")
    expect(ada.page.locator(".swaps").get_by_role("link", name="Swap")).to_have_count(0)


def test_the_old_seat_is_kept_until_the_new_one_comes(
    meet: Meet, portal: Running, term: Term, pair: Siblings
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(pair.old)
    ben.pick(pair.new)
    expect(ada.seats(pair.new)).to_contain_text("0 of 1")
    ada.ask(pair.new)
    expect(ada.dialog).to_contain_text("You drop")
    ada.confirm()
    ada.has(pair.old, "selected")
    ada.has(pair.new, "waiting")

    ben.ask(pair.new)
    ben.confirm()
    ada.has(pair.new, "selected")  # without touching the page
    ada.has(pair.old, "")
    expect(ada.mine.locator("li")).to_have_count(1)
    expect(ben.seats(pair.old)).to_contain_text("1 of 1")
    portal.audit(term.name)


def test_where_the_last_seat_goes_to_another_the_old_one_stays(
    meet: Meet, term: Term, pair: Siblings
) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(pair.old)
    ada.ask(pair.new)
    ada.dialog.get_by_role("checkbox").uncheck()
    ben.pick(pair.new)
    ada.dialog.get_by_role("button", name="Swap").click()
    why = ada.dialog.get_by_role("alert")
    expect(why).to_contain_text("is full")
    expect(why).to_contain_text("You keep")
    ada.has(pair.old, "selected")
    # What can be done next stands there already.
    ada.confirm()
    ada.has(pair.new, "waiting")
    ada.has(pair.old, "selected")


def test_from_my_selections_with_seats_that_move(meet: Meet, term: Term, pair: Siblings) -> None:
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(pair.old)
    ada.go(f"/terms/{term.id}/mine")
    ada.mine.get_by_role("link", name="Swap").click()
    expect(ada.dialog).to_contain_text("1 of 1 open")
    ben.pick(pair.new)
    expect(ada.dialog).to_contain_text("0 of 1 open")
    ada.dialog.get_by_role("link", name="Swap for").click()
    expect(ada.dialog).to_contain_text("You drop")
    ada.confirm()
    expect(ada.mine).to_contain_text("Position 1 of 1")
    expect(ada.mine.get_by_role("link", name="Drop")).to_have_count(1)


def test_without_scripts_it_is_the_same(
    meet: Meet, portal: Running, term: Term, pair: Siblings
) -> None:
    ada, ben = (meet(name, java_script_enabled=False) for name in ("ada", "ben"))
    for person, section in ((ada, pair.old), (ben, pair.new)):
        person.go(f"/terms/{term.id}")
        person.cell(section).get_by_role("link").first.click()
        person.page.get_by_role("button", name="Add class").click()
    ada.cell(pair.new).get_by_role("link").first.click()
    ada.page.get_by_role("button", name="Join waitlist").click()
    expect(ada.page.get_by_role("status").first).to_contain_text("You keep")
    ben.go(f"/terms/{term.id}/sections/{pair.new.id}/drop")
    ben.page.get_by_role("button", name="Drop class").click()
    ada.asks_until(ada.cell(pair.new).get_by_text("Enrolled"))
    ada.has(pair.old, "")
    portal.audit(term.name)
