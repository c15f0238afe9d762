"""Search and filters stay as they were, through a refresh, a dialog and the way back."""

from playwright.sync_api import expect

from e2e.courses import a_course
from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders


def test_filters_survive_refresh_and_back(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    maths = a_course("MAT")
    other = builders.a_section(maths, term)
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    search = ada.page.get_by_label("Search")
    search.fill(maths.code)
    expect(ada.row(section)).to_be_hidden()
    expect(ada.row(other)).to_be_visible()
    ada.page.reload()
    expect(search).to_have_value(maths.code)
    expect(ada.row(section)).to_be_hidden()
    ada.page.get_by_role("link", name="My classes").click()
    expect(ada.mine).to_be_visible()
    ada.page.go_back()
    expect(search).to_have_value(maths.code)
    expect(ada.row(last_seat)).to_be_hidden()


def test_sections_that_a_search_brings_up_are_live(
    meet: Meet, term: Term, section: Section
) -> None:
    maths = a_course("MAT")
    other = builders.a_section(maths, term, capacity=9)
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term, f"?q={maths.code}"), meet("ben").enter(term)
    expect(ada.row(section)).to_be_hidden()
    ada.page.get_by_label("Search").fill("Course")
    expect(ada.row(section)).to_be_visible()
    ben.pick(section)
    expect(ada.seats(section)).to_contain_text("19 of 20")
    ben.pick(other)
    expect(ada.seats(other)).to_contain_text("8 of 9")


def test_only_open_seats_on_request(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ben = meet("ben").enter(term)
    ben.pick(last_seat)
    ada = meet("ada").enter(term)
    ada.page.get_by_label("Open seats only").check()
    expect(ada.row(last_seat)).to_be_hidden()
    expect(ada.row(section)).to_be_visible()
