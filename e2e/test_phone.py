"""On a small screen, and with a keyboard alone."""

from playwright.sync_api import expect

from e2e.contrast import NARROW, places
from e2e.courses import a_course, name_of
from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders

# Delay timers of five seconds or more until `goOn`: toasts close after five seconds.
HOLD = """() => {
    const { setTimeout } = window;
    const held = [];
    window.setTimeout = (act, ms, ...rest) => (
        ms >= 5000 ? held.push(act) : setTimeout(act, ms, ...rest)
    );
    window.goOn = () => held.forEach((act) => act());
}"""


def test_a_seat_by_keyboard_alone(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=NARROW).enter(term)
    keys = ada.page.keyboard
    ada.page.get_by_label("Search").focus()
    link = ada.cell(section).get_by_role("link")
    for _ in range(30):
        keys.press("Tab")
        if link.evaluate("it => it === document.activeElement"):
            break
    expect(link).to_be_focused()
    keys.press("Enter")
    expect(ada.dialog).to_be_visible()
    expect(ada.dialog.locator("h2")).to_be_focused()
    button = ada.dialog.locator("button[type=submit]")
    for _ in range(10):
        keys.press("Tab")
        if button.evaluate("it => it === document.activeElement"):
            break
    expect(button).to_be_focused()
    keys.press("Enter")
    expect(ada.dialog).to_be_hidden()
    ada.has(section, "selected")
    expect(ada.cell(section).get_by_role("link", name="Swap")).to_be_focused()


def test_the_banner_is_low_and_nothing_moves_when_it_opens(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada", viewport=NARROW).enter(term)
    shown = ("#banner", f"#section-{section.id}")
    before = places(ada.page, *shown)
    assert before[0][3] < 90
    builders.open_soon(term, window)
    expect(ada.page.locator("#banner")).to_have_attribute("data-phase", "open")
    assert places(ada.page, *shown) == before


def test_only_the_newest_toast_is_shown_above_the_bar_for_a_moment(
    meet: Meet, term: Term, section: Section
) -> None:
    other = builders.a_section(a_course("MAT"), term)
    builders.an_open_window(term)
    ada = meet("ada", viewport=NARROW).enter(term)
    ada.page.evaluate(HOLD)
    ada.pick(section)
    ada.pick(other)
    news = ada.page.locator(".toast")
    expect(news).to_contain_text([name_of(other)])
    place, bar = news.bounding_box(), ada.page.locator("#mine-bar").bounding_box()
    assert place
    assert bar
    assert place["y"] + place["height"] <= bar["y"]
    assert news.evaluate("it => getComputedStyle(it).pointerEvents") == "none"
    ada.page.evaluate("goOn()")
    expect(news).to_have_count(0)


def test_a_toast_about_a_section_replaces_the_one_before(
    meet: Meet, term: Term, section: Section
) -> None:
    ada = meet("ada").enter(term)
    assert section.id
    for words, about in (("first", 1), ("other", 2), ("second", 1)):
        toast = f'<div class="toast" data-about="{about}">{words}</div>'
        ada.page.locator("#toasts").evaluate(
            "(it, toast) => it.insertAdjacentHTML('beforeend', toast)", toast
        )
    expect(ada.page.locator(".toast")).to_have_text(["other", "second"])
