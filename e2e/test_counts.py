"""Counts move on other people's pages, and take nothing away from them."""

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.notifications.stories import set_section


def test_counts_move_while_i_type(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    search = ben.page.get_by_label("Search")
    search.press_sequentially("Cour")
    ada.pick(section)
    expect(ben.seats(section)).to_contain_text("19 of 20")
    expect(search).to_be_focused()
    search.press_sequentially("se")
    expect(search).to_have_value("Course")


def test_a_row_that_has_focus_keeps_it_when_it_changes(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    here, there = meet("ada").enter(term), meet("ada").enter(term)
    here.cell(last_seat).get_by_role("link").focus()
    there.pick(last_seat)
    here.has(last_seat, "selected")
    expect(here.cell(last_seat).get_by_role("link", name="Swap")).to_be_focused()


def test_the_last_seat_turns_the_button_into_the_waitlist(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    expect(ben.cell(last_seat).get_by_text("Add")).to_be_visible()
    ada.pick(last_seat)
    expect(ben.cell(last_seat).get_by_text("Join waitlist")).to_be_visible()


def test_of_a_section_that_is_canceled_the_button_goes(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ben = meet("ben").enter(term)
    expect(ben.cell(section).get_by_text("Add")).to_be_visible()
    set_section(section, status="CANCELED")
    expect(ben.seats(section)).to_contain_text("Canceled")
    expect(ben.cell(section).get_by_role("link")).to_be_hidden()


def test_a_press_that_began_before_an_update_still_counts(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    here, there = meet("ada").enter(term), meet("ada").enter(term)
    here.cell(section).get_by_role("link").hover(position={"x": 9, "y": 9})
    here.page.mouse.down()
    there.pick(section)
    expect(here.seats(section)).to_contain_text("19 of 20")
    here.page.mouse.up()
    expect(here.dialog).to_be_visible()
    here.has(section, "selected")


def test_counts_move_on_a_instructors_page_of_every_term(
    meet: Meet, cast: Cast, term: Term, course: Course, last_seat: Section
) -> None:
    later = builders.a_term(f"{term.name} again")
    sections = [last_seat, builders.a_section(course, later, capacity=1, instructor=cast.iris)]
    for each in (term, later):
        builders.an_open_window(each)
    iris, ada = meet("iris"), meet("ada")
    for each, section in zip((term, later), sections, strict=True):
        iris.go("/teaching")
        iris.page.get_by_role("link", name=each.name, exact=True).click()
        expect(iris.seats(section)).to_contain_text("0 of 1 enrolled")
        ada.enter(each).pick(section)
        expect(iris.seats(section)).to_contain_text("1 of 1 enrolled")
