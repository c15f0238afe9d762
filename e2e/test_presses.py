"""However often a button is pressed, and wherever, it counts once."""

from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders


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
    ada.page.locator("form button[type=submit]", has_text="Pick").click()
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
    button = ada.page.locator("form button[type=submit]", has_text="Pick")
    ada.go(f"/terms/{term.id}/sections/{only.id}/pick")
    ben.pick(only)
    button.click()
    expect(ada.page.get_by_role("alert")).to_contain_text("The last seat of")
    ben.ask(only)
    ben.confirm()
    ben.has(only, "")
    ada.page.reload()  # the browser sends the form again
    expect(ada.page.get_by_text("This form was already answered")).to_be_visible()
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
    expect(one.dialog).to_contain_text("You give up")
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
