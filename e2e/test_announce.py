"""What a screen reader is told, as it is in the browser's accessibility tree."""

from playwright.sync_api import expect

from e2e.accessibility_tree import heard, seen, until_heard
from e2e.campus import Campus
from e2e.courses import a_course
from e2e.person import Meet
from e2e.test_lobby import knows_the_time
from portal.catalog.models import Section, Term
from tests import cast as builders


def test_a_seat_is_announced_and_so_is_a_promotion(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(last_seat)
    until_heard(ada, "You added")
    ben.pick(last_seat)
    ada.ask(last_seat)
    ada.confirm()
    until_heard(ben, "You got a seat")


def test_seats_that_move_say_nothing(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    before = heard(ada)
    ben.pick(section)
    expect(ada.seats(section)).to_contain_text("19 of 20")
    assert heard(ada) == before


def test_a_search_says_how_many_it_found(meet: Meet, term: Term, section: Section) -> None:
    course = a_course("SAY")
    builders.a_section(course, term)
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    assert section.id
    ada.page.get_by_label("Search").fill(course.code)
    until_heard(ada, "1 section")


def test_the_countdown_says_its_milestones_and_the_opening_alone(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.a_coming_window(term, minutes=9)
    ada = meet("ada")
    ada.page.clock.install()
    knows_the_time(ada.enter(term))
    assert section.id
    assert not heard(ada)
    ada.page.clock.fast_forward("04:05")
    until_heard(ada, "5 minutes until it opens")
    ada.page.clock.run_for(9_000)
    assert heard(ada) == ["5 minutes until it opens"]
    ada.page.clock.fast_forward("05:00")
    until_heard(ada, "Drawing the order…")


def test_a_lost_connection_is_announced_politely(meet: Meet, term: Term, section: Section) -> None:
    ada = meet("ada").enter(term)
    assert section.id
    assert not heard(ada)
    ada.page.locator("#connection").evaluate("it => { it.hidden = false }")
    until_heard(ada, "Live updates are paused")


def test_the_columns_of_tables_have_headers(meet: Meet, campus: Campus) -> None:
    iris = meet("iris")
    iris.go(campus.find("/teaching/sections/{waited}"))
    roles = [node["role"]["value"] for node in seen(iris)]
    assert "table" in roles
    assert roles.count("columnheader") >= 3
    assert roles.count("rowheader") >= 1
