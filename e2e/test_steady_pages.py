"""A student's page does not move by itself while it loads or counts down."""

import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
import requests
from playwright.sync_api import Page, Route, expect

from e2e import variants
from e2e.contrast import DESKTOP, PHONE, places
from e2e.courses import a_course
from e2e.person import PATIENCE, Meet, context_of, second_tab
from e2e.portal import Running
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


def settle(*pages: Page) -> None:
    """Wait until nothing is loading on the pages, and their clocks have moved."""
    for page in pages:
        page.wait_for_load_state("networkidle")
    pages[-1].wait_for_timeout(1200)


@pytest.mark.parametrize("phase", ["before", "open", "ended"])
@variants.screens("desktop", "phone")
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
    context_of(ada).add_init_script(WATCH)
    tabs = {page: second_tab(ada) for page in PAGES}
    for page, tab in tabs.items():
        tab.go(f"/terms/{term.id}{page}")
    settle(*(tab.page for tab in tabs.values()))
    for page, tab in tabs.items():
        assert tab.page.evaluate(MOVES) == [], (section.id, page)
        assert not tab.complaints, page


class InPieces(BaseHTTPRequestHandler):
    """Hands on what the portal answers; a page stops for a moment in the middle of its top bar."""

    portal = ""

    def do_GET(self) -> None:
        cookies = {"Cookie": self.headers["Cookie"]}
        answer = requests.get(self.portal + self.path, headers=cookies, timeout=PATIENCE)
        self.send_response(answer.status_code)
        self.send_header("Content-Type", answer.headers["Content-Type"])
        self.end_headers()
        first, name, rest = answer.content.partition(b'<div class="topbar-person">')
        self.wfile.write(first + name)
        self.wfile.flush()
        if name:
            time.sleep(1)  # a browser shows what it has long before
        self.wfile.write(rest)

    def log_message(self, *_args: object) -> None:
        """Print nothing."""


@pytest.fixture
def in_pieces(portal: Running) -> Iterator[str]:
    """An address where the pages of the portal arrive in pieces."""
    handler = type("OfThisPortal", (InPieces,), {"portal": portal.address})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_a_page_that_arrives_in_pieces_does_not_move(
    meet: Meet, term: Term, in_pieces: str
) -> None:
    ada = meet("ada", viewport=DESKTOP)
    ada.page.route_web_socket("**", lambda _socket: None)  # it opens, and says nothing
    ada.page.add_init_script(WATCH)
    ada.go(f"{in_pieces}/terms/{term.id}/history")
    expect(ada.page.get_by_role("button", name="Log out")).to_be_visible()
    ada.page.wait_for_timeout(500)
    assert ada.page.evaluate(MOVES) == []


@variants.screens("phone")
def test_the_banner_that_grows_an_hour_before_the_opening_moves_no_section(
    meet: Meet, term: Term, section: Section, screen: Any
) -> None:
    for _ in range(12):
        builders.a_section(a_course("HRS"), term)
    builders.a_coming_window(term, minutes=70)
    ada = meet("ada", viewport=screen)
    ada.page.clock.install()
    knows_the_time(ada.enter(term))
    shown = ("#banner", f"#section-{section.id}")
    (*_, slim), before = places(ada.page, *shown)
    ada.page.clock.fast_forward("10:00")
    ada.until("!document.querySelector('#gate').hasAttribute('data-calm')")
    (*_, large), after = places(ada.page, *shown)
    assert large > slim
    assert after == pytest.approx(before, abs=1)  # a page scrolls by whole pixels
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


def test_pages_are_painted_before_their_script_comes(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada")
    held: list[Route] = []

    def keep(route: Route) -> None:  # as Playwright calls no built-in method
        held.append(route)

    ada.page.route("**/build/script.js*", keep)
    ada.page.goto(f"/terms/{term.id}", wait_until="domcontentloaded")
    expect(ada.page.locator(f"#section-{section.id}")).to_be_visible()
    ada.until("performance.getEntriesByName('first-contentful-paint').length > 0")
    dialog = ada.page.locator("#dialog[open]")
    asked: list[str] = []
    ada.page.on("request", lambda it: asked.append(it.url))
    held[0].continue_()
    ada.page.wait_for_load_state("load")
    asked.clear()
    ada.page.locator(f"#section-{section.id} .row-more").click()
    expect(dialog).to_be_visible()
    assert len([url for url in asked if f"/sections/{section.id}" in url]) == 1, asked
