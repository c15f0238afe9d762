"""However often a button is pressed, and wherever, it counts once."""

import re

from playwright.sync_api import Route, expect

from e2e import variants
from e2e.contrast import places
from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Meets


def test_a_double_click_makes_one(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    posts: list[str] = []
    ada.page.on("request", lambda it: posts.append(it.url) if it.method == "POST" else None)
    ada.ask(section)
    ada.dialog.locator("button[type=submit]").dblclick()
    expect(ada.dialog).to_be_hidden()
    ada.has(section, "selected")
    assert len(posts) == 1
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 1


def test_a_button_says_at_once_that_it_was_pressed(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.expected = re.compile(r"htmx:(sendError|afterRequest)|ERR_FAILED")
    held: list[Route] = []
    ada.page.route(
        "**/pick", lambda it: held.append(it) if it.request.method == "POST" else it.continue_()
    )
    ada.ask(section)
    button = ada.dialog.locator("button[type=submit]")
    before = button.bounding_box()
    button.click()
    expect(button).to_have_text("Adding…")
    expect(button).to_have_attribute("aria-disabled", "true")
    expect(ada.dialog.get_by_role("status")).to_have_text("Adding…")
    assert button.bounding_box() == before
    held.pop().abort()
    expect(button).to_have_text("Add class")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    button.click()
    expect(button).to_have_text("Adding…")
    held.pop().continue_()
    expect(ada.dialog).to_be_hidden()
    ada.has(section, "selected")


# Presses the dialog's button as soon as it is there.
PRESSED_AT_ONCE = """() => {
    window.stayed = true;
    const dialog = document.getElementById("dialog");
    const press = () => dialog.querySelector("button[type=submit]")?.click();
    addEventListener("htmx:afterSwap", () => queueMicrotask(press), { once: true });
}"""


def test_a_press_at_the_very_moment_that_a_form_comes_leaves_no_page(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.page.evaluate(PRESSED_AT_ONCE)
    ada.cell(section).get_by_role("link").click()
    ada.has(section, "selected")
    assert ada.page.evaluate("window.stayed")


def test_two_tabs_agree(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    one, two = meet("ada").enter(term), meet("ada").enter(term)
    one.pick(section)
    two.has(section, "selected")
    expect(two.mine).to_contain_text(section.title)
    two.ask(section)
    two.confirm()
    one.has(section, "")


def test_the_same_form_in_two_tabs_makes_one(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    one, two = meet("ada").enter(term), meet("ada").enter(term)
    for tab in (one, two):
        tab.ask(section)
    for tab in (one, two):
        tab.confirm()
        tab.has(section, "selected")
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 1


def test_the_back_button_is_harmless(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.cell(section).get_by_role("link").click()
    ada.page.locator("form button[type=submit]", has_text="Add").click()
    expect(ada.mine).to_contain_text(section.title)
    ada.page.go_back()
    ada.page.go_forward()
    expect(ada.mine).to_contain_text(section.title)
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 1


def test_a_refusal_that_is_loaded_again_says_when_it_was_decided_and_can_be_tried_again(
    meet: Meet, course: Course, term: Term
) -> None:
    builders.an_open_window(term)
    only = builders.a_section(course, term, capacity=1, waitlist=0)
    ada, ben = meet("ada", java_script_enabled=False), meet("ben").enter(term)
    button = ada.page.locator("form button[type=submit]", has_text="Add")
    ada.go(f"/terms/{term.id}/sections/{only.id}/pick")
    ben.pick(only)
    button.click()
    expect(ada.page.get_by_role("alert")).to_contain_text("is full")
    ben.ask(only)
    ben.confirm()
    ben.has(only, "")
    ada.page.reload()  # the browser sends the form again
    expect(ada.page.get_by_text("You already sent this")).to_be_visible()
    button.click()
    expect(ada.mine).to_contain_text(only.title)


def test_a_refusal_says_why_and_what_to_do_next(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    builders.an_open_window(term)
    one, two = meet("ada").enter(term), meet("ada").enter(term)
    one.ask(section)
    two.pick(last_seat)  # of the same course
    one.dialog.locator("button[type=submit]").click()
    why = one.dialog.get_by_role("alert")
    expect(why).to_contain_text("another section of this course")
    why.get_by_role("link", name="Swap").click()
    expect(one.dialog).to_contain_text("You drop")
    one.confirm()
    two.has(section, "selected")
    two.has(last_seat, "")


def test_escape_leaves_everything_as_it_was(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.ask(section)
    ada.page.keyboard.press("Escape")
    expect(ada.dialog).to_be_hidden()
    expect(ada.cell(section).get_by_role("link")).to_be_focused()
    ada.has(section, "")


def sizes(person: Person, *sections: Section) -> list[list[float]]:
    """The width and height of the rows of sections."""
    rows = places(person.page, *(f"#section-{each.id}" for each in sections))
    return [each[2:] for each in rows]


@variants.screens("phone")
def test_rows_say_at_once_what_a_new_seat_makes_of_them(
    meet: Meet, term: Term, course: Course, screen: dict[str, int]
) -> None:
    mine, again = (builders.a_section(course, term, meetings=(Meets(it),)) for it in ("MR", "TF"))
    clashing = builders.a_section(a_course("ART"), term, meetings=(Meets("M"),))
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    for each in (mine, again, clashing):
        expect(ada.cell(each)).to_contain_text("Add")
    rows = (mine, again, clashing)
    before = sizes(ada, *rows)
    ada.pick(mine)
    expect(ada.cell(again)).to_contain_text("Swap")
    expect(ada.cell(clashing)).to_contain_text("Overlaps CSC")
    assert sizes(ada, *rows) == before
    expect(ada.cell(clashing)).to_contain_text("Overlaps")
    ada.ask(clashing)
    expect(ada.dialog.get_by_role("alert")).to_contain_text("at the same time as your CSC")
    ada.page.keyboard.press("Escape")
    ada.ask(mine)
    ada.confirm()
    for each in (mine, again, clashing):
        expect(ada.cell(each)).to_contain_text("Add")


@variants.screens("desktop")
def test_rows_say_at_once_what_is_over_the_credit_limit(
    meet: Meet, term: Term, section: Section, screen: dict[str, int]
) -> None:
    heavy, light = (
        builders.a_section(a_course(code, credits=worth), term)
        for code, worth in (("ART", 18), ("BIO", 3))
    )
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    rows = (heavy, light, section)
    before = sizes(ada, *rows)
    ada.pick(heavy)
    expect(ada.cell(section)).to_contain_text("Over the credit limit")
    expect(ada.cell(light)).to_contain_text("Add")
    assert sizes(ada, *rows) == before
    ada.ask(section)
    expect(ada.dialog.get_by_role("alert")).to_contain_text("limit is 21")
    ada.page.keyboard.press("Escape")
    expect(ada.dialog).to_be_hidden()
    ada.until("!history.state?.dialog")
    ada.ask(heavy)
    ada.confirm()
    expect(ada.cell(section)).to_contain_text("Add")
    assert not ada.complaints


def test_the_seats_in_a_dialog_are_those_of_this_moment(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.ask(section)
    expect(ada.dialog).to_contain_text("20 of 20 open")
    ben.pick(section)
    expect(ada.dialog).to_contain_text("19 of 20 open")
    expect(ada.seats(section)).to_contain_text("19 of 20 open")
    ada.confirm()
    ada.listen(f"/terms/{term.id}/sections/{section.id}/pick")  # a page without the list
    ben.ask(section)
    ben.confirm()
    expect(ada.page.locator("#main .seats")).to_contain_text("19 of 20 open")


@variants.screens("phone")
def test_back_closes_the_dialog_and_keeps_the_search(
    meet: Meet, term: Term, section: Section, screen: dict[str, int]
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    ada.go(f"/terms/{term.id}/mine")
    ada.go(f"/terms/{term.id}")
    search = ada.page.get_by_role("searchbox")
    search.fill(section.crn)
    expect(ada.page).to_have_url(re.compile(f"q={section.crn}"))
    ada.page.evaluate("window.stayed = true")
    for _ in range(2):
        ada.ask(section)
        ada.page.go_back()
        expect(ada.dialog).to_be_hidden()
        expect(ada.cell(section).get_by_role("link")).to_be_focused()
    ada.ask(section)
    ada.page.keyboard.press("Escape")
    expect(ada.dialog).to_be_hidden()
    ada.pick(section)
    expect(search).to_have_value(section.crn)
    expect(ada.page).to_have_url(re.compile(f"q={section.crn}"))
    assert ada.page.evaluate("window.stayed && !history.state?.dialog")
    ada.page.go_back()
    expect(ada.page).to_have_url(re.compile("/mine$"))
