"""With a keyboard alone: the whole way, and wherever one is, one sees where."""

import re

from playwright.sync_api import Locator, expect

from e2e.campus import Campus
from e2e.contrast import PHONE
from e2e.courses import a_course
from e2e.person import Meet, Person
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import PASSWORD

FOCUSED = "it => it === document.activeElement"

# What has focus is not hidden (WCAG 2.4.11), and a ring as wide as can be seen is round it.
COVERED = """() => {
    const it = document.activeElement;
    const box = it.getBoundingClientRect();
    const middle = box.top + box.height / 2;
    const seen = [0.1, 0.5, 0.9].filter((part) => {
        const top = document.elementFromPoint(box.left + box.width * part, middle);
        return top && (it.contains(top) || top.contains(it) || it.closest("label")?.contains(top));
    });
    const { outlineStyle, outlineWidth } = getComputedStyle(it.closest(".chip") ?? it);
    const ring = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
    return seen.length > 0 && ring ? "" : `${it.outerHTML.slice(0, 120)} ring: ${ring}`;
}"""


def tab_to(person: Person, target: Locator, most: int = 40) -> None:
    """Press Tab until the target has focus."""
    for _ in range(most):
        person.page.keyboard.press("Tab")
        if target.evaluate(FOCUSED):
            return
    expect(target).to_be_focused()


def test_the_whole_way_from_login_to_leaving(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    builders.an_open_window(term)
    meet("ben").enter(term).pick(last_seat)
    cleo = meet()
    keys = cleo.page.keyboard
    cleo.go(f"/terms/{term.id}?q={section.title.replace(' ', '+')}")
    expect(cleo.page.get_by_label("Username")).to_be_focused()
    keys.type("cleo")
    keys.press("Tab")
    keys.type(PASSWORD)
    keys.press("Enter")
    expect(cleo.cell(section)).to_be_visible()
    keys.press("Tab")
    expect(cleo.page.get_by_role("link", name="Skip to content")).to_be_focused()
    keys.press("Enter")
    keys.press("Tab")
    expect(cleo.page.locator("#main :focus")).to_be_visible()

    for each, before, after in ((section, "", "selected"), (last_seat, "", "waiting")):
        decide(cleo, each)
        cleo.has(each, after)
        decide(cleo, each)
        cleo.has(each, before)


def test_an_application_is_sent_with_the_keyboard_alone(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.an_open_window(term)
    backend().ledger.close_window(term.id, window.id, "tests")
    dan = meet("dan")
    page, keys = dan.page, dan.page.keyboard
    dan.go(f"/terms/{term.id}/applications")
    tab_to(dan, page.get_by_role("link", name=re.compile("Start.*Late add")))
    keys.press("Enter")
    tab_to(dan, page.get_by_label("Class"))
    keys.type(section.crn)
    keys.press("Enter")
    expect(page.get_by_label("Why do you need this class?")).to_be_visible()
    tab_to(dan, page.get_by_label("Why do you need this class?"))
    keys.type("I need it to graduate.")
    tab_to(dan, page.get_by_role("button", name="Save and continue"))
    keys.press("Enter")
    tab_to(dan, page.get_by_role("link", name="Continue"))
    keys.press("Enter")
    tab_to(dan, page.get_by_role("button", name="Send the application"))
    keys.press("Enter")
    expect(page.get_by_text("You have nothing to do now.")).to_be_visible()


def decide(person: Person, section: Section) -> None:
    """Open the dialog of the section's last act, press its button, and be back there."""
    link = person.cell(section).get_by_role("link").last
    if not link.evaluate(FOCUSED):
        tab_to(person, link)
    keys = person.page.keyboard
    keys.press("Enter")
    expect(person.dialog).to_be_visible()
    expect(person.dialog.locator("h2")).to_be_focused()
    tab_to(person, person.dialog.locator("button[type=submit]"), most=8)
    keys.press("Enter")
    expect(person.dialog).to_be_hidden()
    expect(person.cell(section).locator(":focus")).to_be_visible()


def test_a_dialog_keeps_focus_until_escape_gives_it_back(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    link = ada.cell(section).get_by_role("link").first
    link.focus()
    for key in ("Tab", "Shift+Tab"):
        ada.page.keyboard.press("Enter")
        expect(ada.dialog).to_be_visible()
        for _ in range(8):
            ada.page.keyboard.press(key)
            expect(ada.page.locator("main :focus, header :focus")).to_have_count(0)
        ada.page.keyboard.press("Escape")
        expect(ada.dialog).to_be_hidden()
        expect(link).to_be_focused()


def test_more_sections_come_with_focus_on_the_first_of_them(meet: Meet, term: Term) -> None:
    sections = [builders.a_section(a_course("KEY"), term) for _ in range(45)]
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.page.get_by_role("link", name="Show more").focus()
    ada.page.keyboard.press("Enter")
    expect(ada.row(sections[-1])).to_be_visible()
    expect(ada.row(sections[40]).locator(":focus")).to_be_visible()


def test_what_has_focus_is_never_covered(meet: Meet, campus: Campus) -> None:
    ada = meet("ada", viewport={"width": PHONE["width"], "height": 560})
    covered = []
    for address in ("/terms/{open}", "/terms/{before}", "/terms/{open}/mine"):
        ada.go(campus.find(address))
        for key in ("Tab", "Shift+Tab"):
            for _ in range(45):
                ada.page.keyboard.press(key)
                if ada.page.evaluate("document.activeElement === document.body"):
                    break
                covered.append(ada.page.evaluate(COVERED))
    assert len(covered) > 90
    assert not [each for each in covered if each]
