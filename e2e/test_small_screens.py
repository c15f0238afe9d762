"""On a phone and at 200 % zoom the search, the buttons and the sections stay in sight."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.contrast import ZOOMED
from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders

PHONE = {"width": 390, "height": 844}
# Whether a press in the middle of it meets it.
TOP = """it => {
    const { x, y, width, height } = it.getBoundingClientRect();
    const met = document.elementFromPoint(x + width / 2, y + height / 2);
    return met?.closest("a, button, input") === it;
}"""


@pytest.fixture
def many(term: Term) -> list[Section]:
    return [
        builders.a_section(builders.a_course(f"ROW-{term.id}{number:02}"), term)
        for number in range(14)
    ]


def test_the_search_sticks_and_leaves_room_for_four_sections(
    meet: Meet, term: Term, many: list[Section]
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=PHONE, has_touch=True).enter(term)
    ada.row(many[8]).scroll_into_view_if_needed()
    search = ada.page.get_by_label("Search")
    expect(search).to_be_in_viewport(ratio=1)
    top, end = bottom(ada.page.locator("#filters")), ada.page.locator("#mine-bar").bounding_box()
    assert end
    boxes = [box for each in many if (box := ada.row(each).bounding_box())]
    assert sum(box["y"] >= top and box["y"] + box["height"] <= end["y"] for box in boxes) >= 4


def test_the_filters_are_a_sheet_that_back_closes_with_what_was_chosen(
    meet: Meet, term: Term, many: list[Section], section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=PHONE, has_touch=True).enter(term)
    ada.page.get_by_label("Search").fill("Course")
    ada.page.wait_for_url("**q=Course")
    ada.page.locator(".filters-more summary").click()
    sheet = ada.page.locator(".filters-rest")
    expect(sheet).to_be_in_viewport(ratio=1)
    assert sheet.get_by_role("button").evaluate(TOP)  # nothing lies over it
    ada.page.get_by_label("Subject").select_option("ROW")
    expect(ada.row(section)).to_be_hidden()
    ada.page.go_back()
    expect(sheet).to_be_hidden()
    expect(ada.page.locator(".filters-more summary")).to_be_focused()
    expect(ada.page).to_have_url(f"/terms/{term.id}?q=Course&subject=ROW")
    expect(ada.row(many[0])).to_be_visible()
    expect(ada.row(section)).to_be_hidden()
    for close in ("Escape", "press"):
        ada.page.locator(".filters-more summary").click()
        expect(sheet).to_be_visible()
        if close == "Escape":
            ada.page.keyboard.press("Escape")
        else:
            ada.page.mouse.click(195, 100)
        expect(sheet).to_be_hidden()
        ada.until("!history.state?.dialog")


def test_without_javascript_the_filters_open_and_search(
    meet: Meet, term: Term, many: list[Section], section: Section
) -> None:
    ada = meet("ada", viewport=PHONE, java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.page.locator(".filters-more summary").click()
    ada.page.get_by_label("Subject").select_option("ROW")
    ada.page.get_by_role("button", name="Show sections").click()
    expect(ada.row(many[0])).to_be_visible()
    expect(ada.row(section)).to_be_hidden()


@pytest.mark.parametrize("screen", [PHONE, ZOOMED], ids=["phone", "zoomed"])
def test_the_buttons_of_a_dialog_stick(
    meet: Meet, term: Term, section: Section, screen: Any
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=screen).enter(term)
    ada.ask(section)
    button = ada.dialog.get_by_role("button", name="Add class")
    expect(button).to_be_in_viewport(ratio=1)
    assert button.evaluate(TOP)
    ada.confirm()
    ada.has(section, "selected")


def test_at_200_percent_the_first_screen_shows_the_search_and_a_section(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=ZOOMED).enter(term)
    search = ada.page.get_by_label("Search")
    expect(search).to_be_in_viewport(ratio=1)
    assert search.evaluate(TOP)
    bar = ada.page.locator("#mine-bar").bounding_box()
    assert bar
    assert bottom(ada.row(section)) <= bar["y"]


def test_nothing_is_behind_the_bar_at_the_end_of_the_page(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=PHONE).enter(term)
    ada.row(section).locator(".row-plan").click()
    expect(ada.page.locator("#plan .plan-line")).to_have_count(1)
    ada.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for last in last_links(ada.page):
        assert last.evaluate(TOP)


def last_links(page: Page) -> list[Locator]:
    return page.locator(".foot a, .foot button, .mine-links a").all()


def bottom(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["y"] + box["height"]
