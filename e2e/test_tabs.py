"""Tabs of one student agree, whatever is done in which of them."""

import re

from playwright.sync_api import Locator, expect

from e2e.person import Meet, Person, second_tab
from e2e.test_connection_lost import LOST
from portal.catalog.models import Section, Term
from tests import cast as builders


def logged_out_elsewhere(person: Person, term: Term) -> tuple[Person, Locator]:
    """Another tab, in which the person has logged out; and what this one says to that."""
    person.expected = re.compile(rf"{LOST.pattern}|401")
    other = second_tab(person)
    other.go(f"/terms/{term.id}/mine")
    other.page.get_by_role("button", name="Log out").click()
    told = person.page.locator("#logged-out")
    expect(told).to_be_visible()
    return other, told


def test_a_place_on_a_waitlist_moves_and_becomes_a_seat_in_both(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, cleo = meet("ada").enter(term), meet("cleo").enter(term)
    ada.pick(last_seat)
    cleo.pick(last_seat)
    one = meet("ben").enter(term)
    two = second_tab(one)
    two.go(f"/terms/{term.id}/mine")
    one.pick(last_seat)
    for tab in (one, two):
        expect(tab.mine.locator(".place")).to_contain_text("2")
    cleo.ask(last_seat)
    cleo.confirm()
    for tab in (one, two):
        expect(tab.mine.locator(".place")).to_contain_text("1")
    ada.ask(last_seat)
    ada.confirm()
    for tab in (one, two):
        expect(tab.mine.locator("[data-state=selected]")).to_contain_text(last_seat.title)
        expect(tab.page.locator(".toast").last).to_contain_text("You got a seat")


def test_the_history_in_one_tells_what_is_done_in_the_other_once_it_is_recorded(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    one = meet("ada").enter(term)
    two = second_tab(one).listen(f"/terms/{term.id}/history")
    one.pick(section)
    expect(two.page.locator("#history")).to_contain_text("Enrolled")


def test_who_logs_out_in_one_reads_so_in_the_other_and_loses_nothing(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    dan = meet()
    dan.log_in("dan")
    dan.enter(term)
    dan.page.get_by_label("Search").fill("Course")
    dan.page.wait_for_url("**q=Course")
    logged_out_elsewhere(dan, term)
    expect(dan.page.locator("#connection")).to_be_hidden()
    expect(dan.page.get_by_label("Search")).to_have_value("Course")
    expect(dan.row(section)).to_be_visible()

    dan.cell(section).get_by_role("link").first.click()
    expect(dan.dialog.get_by_role("heading", name="You were logged out")).to_be_visible()
    dan.dialog.get_by_role("link", name="Log in").click()
    dan.page.get_by_label("Username").fill("dan")
    dan.page.get_by_label("Password").fill(builders.PASSWORD)
    dan.page.get_by_role("button", name="Log in").click()
    dan.page.get_by_role("button", name="Add class").click()
    dan.has(section, "selected")
    expect(dan.page.get_by_label("Search")).to_have_value("Course")


def test_who_logs_in_again_elsewhere_finds_the_page_alive(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    dan = meet()
    dan.log_in("dan")
    dan.enter(term)
    other, told = logged_out_elsewhere(dan, term)
    other.log_in("dan")
    dan.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    expect(told).to_be_hidden()
    meet("ben").enter(term).pick(section)
    expect(dan.seats(section)).to_contain_text("19 of 20")
