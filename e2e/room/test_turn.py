"""One's turn: whoever is called picks at once, from whatever page they wait on."""

import re
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import WebSocketRoute, expect

from e2e import variants
from e2e.contrast import PHONE, places
from e2e.person import PATIENCE, Meet, Person, second_tab
from e2e.room.conftest import Admit
from e2e.room.waiter import FRAME, waits_as
from e2e.test_lobby import LOOK, banner_is
from portal.catalog.models import Section, Term
from portal.ledger.types import WindowView
from portal.waiting_room import access_tokens, room
from tests import cast as builders
from tests.recorder.processes import wait_for


def test_the_next_one_waits_and_picks_when_the_first_is_done(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(section)
    ben.ask(section)
    expect(ben.dialog).to_contain_text("You are number 1 in the queue")
    waits_as(ben, 1)
    ben.page.keyboard.press("Escape")
    expect(ben.page.locator("#banner")).to_contain_text("You are next.")
    expect(ben.page.locator("#banner .clock")).to_have_text("1")
    expect(ben.page.locator("#banner [data-line=wait]")).to_contain_text("minute")
    expect(ben.cell(section).get_by_text("In the queue")).to_be_visible()
    expect(ben.cell(section).get_by_role("link")).to_have_count(0)

    ada.asks_until(ada.page.locator("#gate").get_by_text("1 person is waiting."))
    ada.page.get_by_role("link", name="I’m done").click()
    ada.confirm()
    banner_is(ben, "open")
    expect(ben.page).to_have_title(re.compile("^Your turn · "))
    ben.pick(section)
    ben.has(section, "selected")
    expect(ben.page).not_to_have_title(re.compile("Your turn"))
    ada.has(section, "selected")


@variants.screens("desktop", "phone")
def test_the_lobby_draws_and_opens_by_itself_and_nothing_moves(
    meet: Meet, term: Term, section: Section, screen: Any
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    expect(ada.page.locator("#gate")).to_contain_text("You’re in the draw for the first positions.")
    before = ada.page.evaluate(FRAME)
    ada.page.evaluate(PHASES)
    builders.open_soon(term, window, seconds=15)  # long enough that a slow page hears of it first
    banner_is(ada, "open")
    assert ada.page.evaluate(FRAME) == before
    drawing, opened = ada.page.evaluate("phases")
    assert drawing["phase"] == "line"
    assert "Drawing the order…" in drawing["textContent"]
    assert opened["at"] >= drawing["at"]
    ada.pick(section)
    expect(ada.page).not_to_have_title(re.compile("Your turn"))


# Every phase that the banner takes on from here, when, and under what title.
PHASES = """() => {
    window.phases = [];
    const look = () => {
        const banner = document.getElementById("banner");
        const { dataset: { phase }, textContent } = banner;
        if (phase !== (window.phases.at(-1)?.phase ?? "before")) {
            window.phases.push({ phase, at: performance.now(), textContent });
        }
    };
    const what = { childList: true, subtree: true, attributes: true };
    new MutationObserver(look).observe(document.body, what);
}"""


def test_admitted_with_much_time_left_the_banner_is_calm_as_after_a_reload(
    meet: Meet, term: Term
) -> None:
    window = builders.an_open_window(term, minutes=3000)
    room.set_limits(term.id, window.id, 6000, 0, off=False)
    room.enter(term.id, window.id, 900_000)
    ada = waits_as(meet("ada").enter(term), 2)
    (height,) = places(ada.page, "#banner")
    room.set_limits(term.id, window.id, 6000, 2, off=False)
    banner_is(ada, "open")
    look = ada.page.evaluate(LOOK)
    assert places(ada.page, "#banner") == [height]
    ada.page.reload()
    assert ada.page.evaluate(LOOK) == look


@pytest.mark.usefixtures("crowd")
def test_without_scripts_one_is_in_line_on_arrival_counts_down_and_picks(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada", java_script_enabled=False, viewport=PHONE)
    ada.go(f"/terms/{term.id}")
    banner = ada.page.locator("#banner")
    expect(banner).to_contain_text("You are number 6 in the queue")
    admit(3)
    ada.go(f"/terms/{term.id}/room")
    expect(banner).to_contain_text("You are number 3 in the queue")
    expect(banner).to_contain_text("2 people are ahead of you.")
    expect(ada.page.locator("#room")).to_contain_text("In the queue since")
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    expect(ada.page.locator("main")).to_contain_text("You are number 3 in the queue")
    admit(10)
    button = ada.page.get_by_role("button", name="Add class")
    ada.asks_until(button)
    button.click()
    expect(ada.mine).to_contain_text(section.title)


def test_the_dialog_becomes_the_form_when_it_is_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada = meet("ada").enter(term)
    admit(0)
    ada.ask(section)
    expect(ada.dialog.get_by_role("heading", name="You are in the queue")).to_be_focused()
    expect(ada.dialog).to_contain_text("You are number 1 in the queue")
    admit(1)
    expect(ada.dialog.get_by_role("button", name="Add class")).to_be_visible()
    ada.confirm()
    ada.has(section, "selected")


@pytest.mark.usefixtures("crowd")
def test_the_page_of_the_line_leads_to_the_list_at_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    ada.page.get_by_role("link", name="How the waiting room works").click()
    expect(ada.page.locator("#room")).to_contain_text("In the queue since")
    with ada.page.expect_navigation(url=f"**/terms/{term.id}"):
        admit(10)
    expect(ada.page).to_have_title(re.compile("^Your turn · "))
    ada.pick(section)


def test_a_visit_goes_on_by_itself_and_its_end_is_announced_where_it_can_t(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada = meet("ada")
    ada.expected = re.compile("WebSocket")
    ada.page.route_web_socket("**/ws", lambda socket: socket.close())  # so that it hears nothing
    ada.go(f"/terms/{term.id}")
    ada.pick(section)
    ada.page.clock.install()
    ada.page.reload()
    with ada.page.expect_response("**/stage**"):
        ada.page.clock.run_for(access_tokens.LIFETIME)
    toast = ada.page.locator(".toast")

    # For the server no time has passed, so the end is the same: as while others wait.
    def told() -> int:
        ada.page.clock.run_for(access_tokens.LIFETIME // 10)
        return toast.count()

    wait_for(told)
    expect(toast).to_contain_text("Your turn ends at")


def test_while_others_wait_the_number_is_the_end_of_my_turn_and_says_why_it_moved(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(section)
    banner, toasts = ada.page.locator("#banner"), ada.page.locator("#toasts")
    expect(banner).to_contain_text("Closes in")
    room_page(ada, "It is your turn.")
    ben.ask(section)
    ben.page.keyboard.press("Escape")
    waits_as(ben, 1)
    expect(toasts).to_contain_text("Other students are waiting now, so your turn ends")
    expect(banner).to_contain_text("Other students are waiting: your turn ends")
    expect(banner.locator(".clock")).to_have_text(re.compile(r"^\s*1[0-5]:\d\d\s*$"))
    expect(toasts).to_have_attribute("aria-live", "polite")
    room_page(ada, re.compile(r"^It is your turn until .*\d:\d\d:\d\d [ap]m E[DS]T\b"))
    admit(2)
    banner_is(ben, "open")
    expect(toasts).to_contain_text("No one is waiting now. You have until registration closes")
    expect(banner).to_contain_text("Closes in")


def test_end_of_a_turn_is_announced_once(
    meet: Meet, term: Term, section: Section, window: WindowView, admit: Admit
) -> None:
    admit(1)
    ada = meet("ada").enter(term)
    ada.pick(section)
    heard: list[str] = []

    def connect(browser: WebSocketRoute) -> None:
        """Let what the page hears of others take effect at once."""
        server = browser.connect_to_server()

        def hear(said: str | bytes) -> None:
            text = str(said)
            if '"others"' in text:
                heard.append(text)
            browser.send(re.sub(r'"between": ?\[[\d., ]+\]', '"between":[0,0]', text))

        browser.on_message(server.send)
        server.on_message(hear)

    ada.page.route_web_socket("**/ws", connect)
    ada.page.clock.install()
    ada.enter(term)
    ada.page.evaluate(TOLD)
    ada.page.clock.pause_at(ada.page.evaluate("Date.now()") / 1000 + 1)

    def change(act: Callable[[], object], number: int) -> None:
        act()
        meets(ada, lambda: len(heard) == number)
        for _ in range(10):
            ada.page.clock.run_for(200)
            ada.page.wait_for_timeout(100)

    change(lambda: room.enter(term.id, window.id, 900_001), 1)  # others wait,
    change(lambda: admit(2), 2)  # no longer wait,
    change(lambda: room.enter(term.id, window.id, 900_002), 3)  # and wait again
    ada.page.clock.resume()
    expect(ada.page.locator("#banner")).to_contain_text("Other students are waiting: your turn")
    assert ada.page.evaluate("told") == 1


def test_page_asks_for_the_end_of_a_turn_though_it_keeps_changing(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada = meet("ada").enter(term)
    ada.pick(section)
    page = ada.page
    page.clock.install()
    ada.enter(term)
    page.evaluate("asked = 0; addEventListener('fs:window', () => asked++)")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    for number in range(10):
        detail = {"others": number % 2 == 0}
        page.evaluate("detail => dispatchEvent(new CustomEvent('fs:others', { detail }))", detail)
        page.clock.run_for(2000)
    assert page.evaluate("asked") == 1


def meets(person: Person, condition: Callable[[], bool]) -> None:
    """Wait until the page has met a condition."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        person.page.wait_for_timeout(50)


# Counts the toasts from here on.
TOLD = """() => {
    window.told = 0;
    const count = (changes) => {
        for (const { addedNodes } of changes) told += addedNodes.length;
    };
    new MutationObserver(count).observe(document.getElementById("toasts"), { childList: true });
}"""


def room_page(person: Person, words: str | re.Pattern[str]) -> None:
    """Read on the page of the waiting room, in another tab, whose turn it is."""
    tab = second_tab(person)
    tab.go(f"{urlsplit(person.page.url).path}/room")
    expect(tab.page.locator("#room .lede")).to_have_text(words)
    tab.page.close()
