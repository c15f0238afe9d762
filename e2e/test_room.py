"""The line at the gate: one waits, sees it move, and picks at one's turn; nobody loses a place."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e.looks import PHONE
from e2e.person import Meet, Person, context_of
from e2e.test_announce import heard, until_heard
from e2e.test_lobby import banner_is
from e2e.test_plan import AWAKE, lines, outcomes, plan
from portal.catalog.models import Section, Term
from portal.gate import passes, room
from portal.seats.answers import WindowView
from tests import cast as builders

PLACES = ".topbar a, #banner, #gate, #filters *, .section-row, .row-act"
FRAME = f"""() => [...document.querySelectorAll("{PLACES}")]
    .map((it) => it.getBoundingClientRect().toJSON())"""

Admit = Callable[[int], object]


@pytest.fixture
def window(term: Term) -> WindowView:
    """It is open, and its room lets nobody in."""
    found = builders.an_open_window(term)
    room.set_limits(term.id, found.id, 6000, 0, off=False)
    return found


@pytest.fixture
def admit(term: Term, window: WindowView) -> Admit:
    """Lets so many be in at once from now on."""
    return lambda number: room.set_limits(term.id, window.id, 6000, number, off=False)


@pytest.fixture
def crowd(term: Term, window: WindowView) -> list[int]:
    """Others who wait already, and whose pages are closed by now."""
    found = list(range(900_000, 900_005))
    for student in found:
        room.enter(term.id, window.id, student)
    return found


def waits_as(person: Person, number: int) -> Person:
    """See that the person waits with that number."""
    banner_is(person, "line")
    title = person.page.locator("#banner .banner-title")
    expect(title).to_have_text(f"You are number {number} in line")
    return person


def test_the_next_one_waits_and_picks_when_the_first_is_done(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(1)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(section)
    ben.ask(section)
    expect(ben.dialog).to_contain_text("You are number 2 in line")
    waits_as(ben, 2)
    ben.page.keyboard.press("Escape")
    expect(ben.page.locator("#banner")).to_contain_text("You are next.")
    expect(ben.page.locator("#banner .clock")).to_contain_text("min")
    expect(ben.cell(section).get_by_text("In line")).to_be_visible()
    expect(ben.cell(section).get_by_role("link")).to_have_count(0)

    ada.asks_until(ada.page.locator("#gate").get_by_text("1 person is waiting."))
    ada.page.get_by_role("link", name="I am done").click()
    ada.confirm()
    banner_is(ben, "open")
    expect(ben.page).to_have_title(re.compile("^Your turn · "))
    ben.pick(section)
    ben.has(section, "selected")
    expect(ben.page).not_to_have_title(re.compile("Your turn"))
    ada.has(section, "selected")


def test_a_refresh_a_second_tab_and_another_browser_keep_the_place(
    meet: Meet, term: Term, crowd: list[int], admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    waits_as(meet("ben").enter(term), 7)
    ada.page.reload()
    waits_as(ada, 6)
    tab = waits_as(Person(context_of(ada).new_page()).enter(term), 6)
    phone = waits_as(meet("ada", viewport=PHONE).enter(term), 6)
    admit(len(crowd) + 1)
    for each in (ada, tab, phone):
        banner_is(each, "open")
    assert not tab.complaints


@pytest.mark.usefixtures("crowd")
def test_the_number_of_those_before_goes_down_by_itself_and_nothing_moves(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada", viewport=PHONE).enter(term), 6)
    note = ada.page.locator("#banner")
    expect(note).to_contain_text("5 people are before you.")
    asked: list[str] = []
    ada.page.on("request", lambda request: asked.append(request.url))
    before = ada.page.evaluate(FRAME)
    admit(3)
    expect(note).to_contain_text("2 people are before you.")
    admit(4)
    expect(note).to_contain_text("1 person is before you.")
    assert not [url for url in asked if "/stage" in url]
    assert ada.page.evaluate(FRAME) == before
    admit(6)
    banner_is(ada, "open")
    assert ada.page.evaluate(FRAME) == before
    ada.pick(section)


@pytest.mark.usefixtures("crowd")
@pytest.mark.parametrize("inside", [1, 3])
def test_the_page_tells_the_same_wait_as_the_server(
    meet: Meet, term: Term, admit: Admit, inside: int
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    banner = ada.page.locator("#banner")
    admit(inside)
    expect(banner).to_contain_text(f"{5 - inside} people are before you.")
    by_script = ada.page.locator("#banner .clock").inner_text()
    assert "min" in by_script
    ada.page.reload()
    waits_as(ada, 6)
    expect(ada.page.locator("#banner .clock")).to_have_text(by_script)


@pytest.mark.parametrize(
    "screen", [{"width": 1280, "height": 900}, PHONE], ids=["desktop", "phone"]
)
def test_the_lobby_draws_and_opens_by_itself_and_nothing_moves(
    meet: Meet, term: Term, section: Section, screen: Any
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    expect(ada.page.locator("#gate")).to_contain_text("You are in the draw for the first places.")
    before = ada.page.evaluate(FRAME)
    ada.page.evaluate(PHASES)
    builders.open_soon(term, window)
    banner_is(ada, "open", 40)
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


@pytest.mark.usefixtures("crowd")
def test_without_scripts_one_takes_a_place_waits_and_picks(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.page.get_by_role("button", name="Take my place in line").click()
    expect(ada.page.locator("#room")).to_contain_text("Before you")
    expect(ada.page.locator("#banner")).to_contain_text("You are number 6 in line")
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    expect(ada.page.get_by_role("heading", name="You are number 6 in line")).to_be_visible()
    admit(10)
    button = ada.page.get_by_role("button", name="Pick this section")
    ada.asks_until(button)
    button.click()
    expect(ada.mine).to_contain_text(section.title)


def test_the_dialog_becomes_the_form_when_it_is_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada").enter(term)
    ada.ask(section)
    expect(ada.dialog.get_by_role("heading", name="You are number 1 in line")).to_be_focused()
    admit(1)
    expect(ada.dialog.get_by_role("button", name="Pick this section")).to_be_visible()
    ada.confirm()
    ada.has(section, "selected")


@pytest.mark.usefixtures("crowd")
def test_a_plan_that_is_pressed_in_line_goes_off_at_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    plan(ada, section)
    button = ada.page.locator(AWAKE)
    expect(button).to_contain_text("as soon as it is my turn")
    button.focus()
    ada.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(ada.page.locator("#toasts")).to_contain_text("Your plan goes off when it is your turn")
    ada.page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    admit(10)
    assert outcomes(ada) == ["enrolled"]
    ada.has(section, "selected")
    expect(lines(ada)).to_have_count(0)


@pytest.mark.usefixtures("crowd")
def test_a_plan_that_is_held_back_again_stays(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    plan(ada, section)
    button = ada.page.locator(AWAKE)
    button.click()
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    admit(10)
    banner_is(ada, "open")
    ada.page.reload()
    expect(button).not_to_have_attribute("aria-pressed", re.compile("."))
    expect(ada.dialog).to_be_hidden()
    expect(lines(ada)).to_have_count(1)


@pytest.mark.usefixtures("crowd")
def test_who_leaves_the_line_is_out_until_they_come_back(meet: Meet, term: Term) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    ada.page.get_by_role("link", name="Leave the line").click()
    expect(ada.dialog).to_contain_text("Number 6 stays yours until it is called.")
    ada.confirm()
    banner_is(ada, "open")
    ada.page.reload()
    ada.page.get_by_role("button", name="Take my place in line").click()
    waits_as(ada, 6)


@pytest.mark.usefixtures("crowd")
def test_the_page_of_the_line_leads_to_the_list_at_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    ada.page.get_by_role("link", name="How the line works").click()
    expect(ada.page.locator("#room")).to_contain_text("Before you")
    with ada.page.expect_navigation(url=f"**/terms/{term.id}"):
        admit(10)
    expect(ada.page).to_have_title(re.compile("^Your turn · "))
    ada.pick(section)


def test_where_there_is_no_socket_the_page_asks(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = meet("ada")
    ada.expected = re.compile("WebSocket")
    ada.page.route_web_socket("**/ws", lambda socket: socket.close())
    ada.go(f"/terms/{term.id}")
    ada.ask(section)
    waits_as(ada, 1)
    admit(1)
    expect(ada.dialog.get_by_role("button", name="Pick this section")).to_be_visible(timeout=20_000)


@pytest.mark.usefixtures("crowd")
def test_the_wait_and_the_turn_are_announced_and_nothing_between(
    meet: Meet, term: Term, admit: Admit
) -> None:
    ada = meet("ada").enter(term)
    until_heard(ada, "You are number 6 in line:")
    told = heard(ada)
    admit(2)
    expect(ada.page.locator("#banner")).to_contain_text("3 people are before you.")
    assert heard(ada) == told
    admit(10)
    until_heard(ada, "Your turn. Pick your sections")


def test_a_claim_without_a_pass_gets_one_and_is_made(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(5)
    ada = meet("ada").enter(term)
    ada.expected = re.compile("status of 403")
    plan(ada, section)
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled"]
    ada.page.keyboard.press("Escape")
    ada.ask(section)
    ada.confirm()
    ada.has(section, "")
    ada.ask(section)
    context_of(ada).clear_cookies(name="pass")
    ada.confirm()
    ada.has(section, "selected")


def test_a_visit_goes_on_by_itself_and_its_end_is_told_where_it_can_t(
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
        ada.page.clock.run_for(passes.STAY)
    # For the server no time has passed, so the end is the same: as while others wait.
    ada.page.clock.run_for(passes.STAY)
    expect(ada.page.locator(".toast")).to_contain_text("Your visit ends at")
