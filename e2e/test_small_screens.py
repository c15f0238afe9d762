"""On a phone and at 200 % zoom the search, the buttons and the sections stay in sight."""

from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.contrast import LAPTOP, NARROW, PHONE, ZOOMED, places
from e2e.courses import a_course
from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Meets

# Whether a press in the middle of it meets it.
TOP = """it => {
    const { x, y, width, height } = it.getBoundingClientRect();
    const met = document.elementFromPoint(x + width / 2, y + height / 2);
    return met?.closest("a, button, input") === it;
}"""


@pytest.fixture
def student(term: Term) -> str:
    """A student of this story alone, so that no note about Ada's record takes up room."""
    username = f"small{term.id}"
    builders.a_student(username)
    return username


@pytest.fixture
def many(term: Term) -> list[Section]:
    return [builders.a_section(a_course("ROW"), term) for _ in range(14)]


def test_the_search_sticks_and_leaves_room_for_four_sections(
    meet: Meet, student: str, term: Term, many: list[Section]
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=PHONE, has_touch=True).enter(term)
    person.row(many[8]).scroll_into_view_if_needed()
    search = person.page.get_by_label("Search")
    expect(search).to_be_in_viewport(ratio=1)
    top, end = (
        bottom(person.page.locator("#filters")),
        person.page.locator("#mine-bar").bounding_box(),
    )
    assert end
    boxes = [box for each in many if (box := person.row(each).bounding_box())]
    assert sum(box["y"] >= top and box["y"] + box["height"] <= end["y"] for box in boxes) >= 4


def test_the_filters_are_a_sheet_that_back_closes_with_what_was_chosen(
    meet: Meet, student: str, term: Term, many: list[Section], section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=PHONE, has_touch=True).enter(term)
    person.page.get_by_label("Search").fill("Course")
    person.page.wait_for_url("**q=Course")
    person.page.locator(".filters-more summary").click()
    sheet = person.page.locator(".filters-rest")
    expect(sheet).to_be_in_viewport(ratio=1)
    assert sheet.get_by_role("button").evaluate(TOP)  # nothing lies over it
    person.page.get_by_label("Subject").select_option("ROW")
    expect(person.row(section)).to_be_hidden()
    person.page.go_back()
    expect(sheet).to_be_hidden()
    expect(person.page.locator(".filters-more summary")).to_be_focused()
    expect(person.page).to_have_url(f"/terms/{term.id}?q=Course&subject=ROW")
    expect(person.row(many[0])).to_be_visible()
    expect(person.row(section)).to_be_hidden()
    for close in ("Escape", "press"):
        person.page.locator(".filters-more summary").click()
        expect(sheet).to_be_visible()
        if close == "Escape":
            person.page.keyboard.press("Escape")
        else:
            person.page.mouse.click(195, 100)
        expect(sheet).to_be_hidden()
        person.until("!history.state?.dialog")


def test_the_days_of_the_filters_stand_in_one_row(
    meet: Meet, student: str, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=NARROW)
    for screen in (PHONE, NARROW):
        person.page.set_viewport_size(screen)
        person.enter(term)
        expect(person.row(section)).to_be_visible()
        person.page.locator(".filters-more summary").click()
        days = person.page.locator(".filters-days .chip")
        expect(days).to_have_count(7)
        assert len({each.bounding_box()["y"] for each in days.all()}) == 1  # type: ignore[index]
        person.page.get_by_text("Sun", exact=True).click()
        person.page.wait_for_url("**days=S*")


def test_the_details_on_a_phone_show_my_week_with_the_section(
    meet: Meet, student: str, term: Term
) -> None:
    builders.an_open_window(term, minutes=300)
    mine, free, clashing = (
        builders.a_section(a_course(code), term, meetings=(when,))
        for code, when in (
            ("MIN", Meets("MW", "10:00", "11:50")),
            ("FRE", Meets("TR", "14:00", "15:20")),
            ("CLA", Meets("W", "11:00", "12:20")),
        )
    )
    person = meet(student, viewport=PHONE).enter(term)
    person.pick(mine)
    week = person.dialog.locator(".mini-week")
    for section, kind, number in ((free, "would", 2), (clashing, "clash", 1)):
        person.page.mouse.click(*middle(person.row(section).locator(".row-when")))
        expect(week).to_be_in_viewport(ratio=1)
        expect(week.locator("[data-kind=mine]")).to_have_count(2)
        expect(week.locator(f"[data-kind={kind}]")).to_have_count(number)
        person.page.keyboard.press("Escape")
        expect(person.dialog).to_be_hidden()
    person.page.set_viewport_size(LAPTOP)  # there it is beside the list
    person.row(free).locator(".row-more").click()
    expect(person.dialog).to_be_visible()
    expect(week).to_be_hidden()


def test_without_javascript_the_filters_open_and_search(
    meet: Meet, student: str, term: Term, many: list[Section], section: Section
) -> None:
    person = meet(student, viewport=PHONE, java_script_enabled=False)
    person.go(f"/terms/{term.id}")
    person.page.locator(".filters-more summary").click()
    person.page.get_by_label("Subject").select_option("ROW")
    person.page.get_by_role("button", name="Show sections").click()
    expect(person.row(many[0])).to_be_visible()
    expect(person.row(section)).to_be_hidden()


@pytest.mark.parametrize("screen", [PHONE, ZOOMED], ids=["phone", "zoomed"])
def test_the_buttons_of_a_dialog_stick(
    meet: Meet, student: str, term: Term, section: Section, screen: Any
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=screen).enter(term)
    person.ask(section)
    button = person.dialog.get_by_role("button", name="Add class")
    expect(button).to_be_in_viewport(ratio=1)
    assert button.evaluate(TOP)
    person.confirm()
    person.has(section, "selected")


def test_at_200_percent_the_first_screen_shows_the_search_and_a_section(
    meet: Meet, student: str, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=ZOOMED).enter(term)
    search = person.page.get_by_label("Search")
    expect(search).to_be_in_viewport(ratio=1)
    assert search.evaluate(TOP)
    bar = person.page.locator("#mine-bar").bounding_box()
    assert bar
    assert bottom(person.row(section)) <= bar["y"]
    count, size = places(person.page, ".results-count", ".row-size")
    assert count[1] + count[3] / 2 == pytest.approx(size[1] + size[3] / 2, abs=1)  # one line


def test_nothing_is_behind_the_bar_at_the_end_of_the_page(
    meet: Meet, student: str, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    person = meet(student, viewport=PHONE).enter(term)
    person.row(section).locator(".row-plan").click()
    expect(person.page.locator("#plan .plan-line")).to_have_count(1)
    person.page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    for last in last_links(person.page):
        assert last.evaluate(TOP)


def last_links(page: Page) -> list[Locator]:
    return page.locator(".foot a, .foot button, .mine-links a").all()


def bottom(part: Locator) -> float:
    box = part.bounding_box()
    assert box
    return box["y"] + box["height"]


def middle(part: Locator) -> tuple[float, float]:
    part.scroll_into_view_if_needed()
    box = part.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
