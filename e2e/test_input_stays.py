"""What others do changes the page, and takes nothing out of my hands."""

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from e2e.campus import cancel
from e2e.contrast import PHONE, places
from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.recorder.processes import wait_for

# Where the rows, the filters and what has the mouse on it are, if they are seen, to the pixel.
PLACES = """() =>
    [...document.querySelectorAll(".section-row, .row-seats, #banner, #filters *, a:hover")]
        .filter((it) => it.checkVisibility())
        .map((it) => it.getBoundingClientRect().toJSON())"""

FRAME = """() => [...document.querySelectorAll(".topbar a, #banner, #filters *, .section-row")]
    .filter((it) => it.checkVisibility())
    .map((it) => it.getBoundingClientRect().toJSON())"""

# A mouse that keeps moving over the element, until `stop` is called.
AIM = """it => {
    const how = { pointerType: "mouse", bubbles: true };
    const move = () => it.dispatchEvent(new PointerEvent("pointermove", how));
    const moving = setInterval(move, 50);
    window.stop = () => clearInterval(moving);
    move();
}"""

OPEN = "document.querySelectorAll('details[open]').length"

Sections = list[Section]


def scroll(person: Person, by: int) -> float:
    """Turn the wheel; where the page stands once it rests."""
    person.page.mouse.wheel(0, by)
    wait_for(lambda: person.page.evaluate("scrollY") > by / 2)
    before, now = -1, 0
    while now != before:
        before, now = now, person.page.evaluate("scrollY")
        person.page.wait_for_timeout(200)
    return float(now)


@pytest.fixture
def many(term: Term) -> Sections:
    """Enough sections for a long list, the first with a single seat."""
    courses = [a_course("UNT") for _ in range(12)]
    sizes = [1, *[9] * 11]
    return [
        builders.a_section(course, term, capacity=size)
        for course, size in zip(courses, sizes, strict=True)
    ]


def press(person: Person, section: Section) -> Callable[[], None]:
    """Press the mouse on the section's button; gives what lets go."""
    person.cell(section).get_by_role("link").first.hover(position={"x": 20, "y": 10})
    person.page.mouse.down()
    return person.page.mouse.up


def test_nothing_moves_under_a_pressed_pointer_and_then_it_comes_in(
    meet: Meet, term: Term, many: Sections
) -> None:
    builders.an_open_window(term)
    ada, ben, phone = (meet(name).enter(term) for name in ("ada", "ben", "ada"))
    let_go = press(ada, many[0])
    before = ada.page.evaluate(PLACES)
    ben.pick(many[0])
    phone.pick(many[0])
    phone.pick(many[1])
    ada.has(many[1], "selected")
    expect(ada.seats(many[0])).to_contain_text("0 of 1")
    ada.has(many[0], "")
    assert ada.page.evaluate(PLACES) == before
    let_go()
    ada.has(many[0], "waiting")
    expect(ada.dialog).to_be_visible()


def test_nothing_moves_where_a_mouse_is_about_to_press(
    meet: Meet, term: Term, many: Sections
) -> None:
    builders.an_open_window(term)
    here, there = meet("ada").enter(term), meet("ada").enter(term)
    there.pick(many[3])
    item = here.mine.get_by_role("link", name="Drop")
    expect(item).to_be_visible()
    item.evaluate(AIM)
    place = item.bounding_box()
    there.pick(many[1])
    here.has(many[1], "selected")
    assert item.bounding_box() == place
    here.page.evaluate("stop()")
    expect(item).to_have_count(2)


def test_focus_text_folds_and_scroll_stay_while_others_pick(
    meet: Meet, term: Term, many: Sections
) -> None:
    builders.an_open_window(term)
    ada, ben, phone = (meet(name).enter(term) for name in ("ada", "ben", "ada"))
    ada.page.get_by_label("Search").press_sequentially("UNT")
    ada.page.wait_for_url("**q=UNT")
    ada.page.locator(".filters-more summary").click()
    ada.page.get_by_label("Credits").focus()
    scrolled, folds = scroll(ada, 260), ada.page.evaluate(OPEN)
    ben.pick(many[0])
    phone.pick(many[1])
    ada.has(many[1], "selected")
    expect(ada.seats(many[0])).to_contain_text("0 of 1")
    expect(ada.page.get_by_label("Credits")).to_be_focused()
    expect(ada.page.get_by_label("Search")).to_have_value("UNT")
    assert (ada.page.evaluate("scrollY"), ada.page.evaluate(OPEN)) == (scrolled, folds)


def test_a_moved_window_leaves_the_list_as_i_have_it(
    meet: Meet, portal: Running, term: Term, many: Sections
) -> None:
    window = builders.a_coming_window(term, minutes=120)
    ada = meet("ada").enter(term)
    link = ada.row(many[2]).locator(".row-more")
    link.focus()
    scrolled = scroll(ada, 200)
    later = window.opens + 3 * 24 * 60 * builders.MINUTE
    portal.backend.ledger.move_window(term.id, window.id, later, later + 10**7, "tests")
    banner = ada.page.locator("#banner")
    expect(banner).to_have_attribute("data-opens", str(later))
    why = "The registrar changed the time: registration opens"
    expect(ada.page.locator("#toasts")).to_contain_text(why)
    expect(link).to_be_focused()
    assert ada.page.evaluate("scrollY") == scrolled


def test_live_updates_move_nothing_on_a_phone(meet: Meet, term: Term, many: Sections) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=PHONE).enter(term)
    ada.pick(many[1])
    count = ada.page.locator("#inbox-count")
    before, unread = ada.page.evaluate(FRAME), count.text_content() or ""
    cancel(many[1])
    expect(count).not_to_have_text(unread.strip())
    assert ada.page.evaluate(FRAME) == before


def test_a_row_that_fills_up_stays_in_a_list_of_open_seats(
    meet: Meet, term: Term, many: Sections
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term, "?open=1"), meet("ben").enter(term)
    row = f"#section-{many[0].id}"
    place = places(ada.page, row)
    let_go = press(ada, many[0])
    ben.pick(many[0])
    expect(ada.seats(many[0])).to_contain_text("0 of 1")
    assert places(ada.page, row) == place
    let_go()
    expect(ada.dialog).to_contain_text("waitlist")
    ada.page.keyboard.press("Escape")
    assert places(ada.page, row) == place
