"""Nothing that a student reads moves by itself while a page loads or counts down."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from e2e.contrast import DESKTOP, PHONE, places
from e2e.person import Meet
from e2e.test_captcha import LOST, PUZZLE, hold
from e2e.test_lobby import knows_the_time
from portal.catalog.models import Section, Term
from tests import cast as builders

PAGES = ("", "/mine", "/plan", "/schedule", "/history", "/room")
MOVES = "window.moves"
WATCH = """
window.moves = [];
new PerformanceObserver((list) => list.getEntries().forEach((it) => {
    if (it.hadRecentInput) return;
    for (const { node, previousRect, currentRect } of it.sources) {
        const what = (node?.outerHTML ?? node?.textContent ?? '').slice(0, 120);
        moves.push([what, JSON.stringify(previousRect), JSON.stringify(currentRect)]);
    }
})).observe({ type: 'layout-shift', buffered: true });
"""


def settle(page: Page) -> None:
    """Wait until the page has asked for all that it needs, and its clock has moved."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1200)


@pytest.mark.parametrize("phase", ["before", "open", "ended"])
@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_no_page_of_a_student_moves_by_itself(
    meet: Meet, term: Term, section: Section, phase: str, screen: Any
) -> None:
    if phase == "before":
        builders.a_coming_window(term, minutes=3000)
    elif phase == "open":
        builders.an_open_window(term, minutes=3000)
    else:
        builders.an_ended_window(term)
    ada = meet("ada", viewport=screen, timezone_id="Europe/Berlin")
    ada.go("/inbox")  # the portal knows the device's time zone from now on
    ada.page.add_init_script(WATCH)
    for page in PAGES:
        ada.go(f"/terms/{term.id}{page}")
        settle(ada.page)
        assert ada.page.evaluate(MOVES) == [], (section.id, page)


@pytest.mark.parametrize("screen", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_banner_that_grows_an_hour_before_the_opening_moves_no_section(
    meet: Meet, term: Term, section: Section, screen: Any
) -> None:
    for number in range(12):
        builders.a_section(builders.a_course(f"HRS-{term.id}{number:02}"), term)
    builders.a_coming_window(term, minutes=70)
    ada = meet("ada", viewport=screen)
    ada.page.clock.install()
    knows_the_time(ada.enter(term))
    shown = ("#banner", f"#section-{section.id}")
    (*_, slim), before = places(ada.page, *shown)
    ada.page.clock.fast_forward("10:00")
    ada.until("!document.querySelector('#gate').hasAttribute('data-calm')")
    (*_, large), after = places(ada.page, *shown)
    assert large > slim + 10
    assert after == before
    expect(ada.page.locator("#banner .clock")).to_be_in_viewport(ratio=0.5)


def test_the_check_for_robots_leaves_no_empty_strip(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=3000)
    builders.a_student("stella")
    stella = meet(viewport=PHONE)
    stella.expected = LOST
    stella.page.route(PUZZLE, lambda route: route.abort())  # until the login has led somewhere
    stella.log_in("stella")
    stella.page.unroute(PUZZLE)
    release = hold(stella)
    stella.page.add_init_script(WATCH)
    stella.go(f"/terms/{term.id}")
    checking = stella.page.get_by_text("Checking that you are not a robot…")
    expect(checking).to_be_visible()
    before = places(stella.page, f"#section-{section.id}")
    with stella.page.expect_response(lambda it: "/stage" in it.url):
        release()
    expect(checking).to_be_hidden()
    settle(stella.page)
    assert places(stella.page, f"#section-{section.id}") == before
    assert stella.page.evaluate(MOVES) == []
    stella.page.reload()
    settle(stella.page)
    assert places(stella.page, f"#section-{section.id}") == before
