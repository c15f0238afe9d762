"""A phone that slept and a page that comes back from memory show at once how things stand."""

from datetime import datetime, timedelta

import pytest
from playwright.sync_api import expect

from e2e.campus import cancel
from e2e.courses import a_course
from e2e.person import Meet, Person, context_of
from e2e.portal import Running
from e2e.test_connection_lost import LOST
from e2e.waiting_students import Line
from portal.catalog.models import Section, Term
from tests import cast as builders

# The page asks a line that may be dead for a sign of life, and lays a new one without an answer.
BRIEF = 45_000  # ms
AWAKE = {
    "a phone is taken out of the pocket": "document.dispatchEvent(new Event('visibilitychange'))",
    "the way back leads to the page as it was": (
        "dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))"
    ),
}
LOST_ONCE = "addEventListener('htmx:wsClose', () => { window.lost = true; }, { once: true })"


class Sleeper:
    """Ada's phone: while it sleeps, no timer runs. Its connection is dead, not noticed yet."""

    def __init__(self, ada: Person, term: Term) -> None:
        self.ada = ada
        self.line = Line().lay(ada.page)
        ada.page.clock.install()
        ada.go(f"/terms/{term.id}")
        expect(ada.page.locator("#connection")).to_be_hidden()

    def sleep(self) -> Person:
        """Stop its timers and its line, saying nothing to anyone."""
        self.ada.page.clock.pause_at(datetime.now().astimezone() + timedelta(seconds=5))
        self.line.die()
        return self.ada

    def wake(self, event: str = AWAKE["a phone is taken out of the pocket"]) -> None:
        """Let all go on, as a browser does."""
        self.line.away = False
        self.ada.page.clock.resume()
        self.ada.page.evaluate(event)


@pytest.mark.parametrize("how", AWAKE)
def test_who_was_away_catches_up_with_everything(
    meet: Meet, portal: Running, term: Term, section: Section, how: str
) -> None:
    last_seat = builders.a_section(a_course("LAS"), term, capacity=1)
    window = builders.an_open_window(term, minutes=30)
    other = builders.a_section(a_course("SLE"), term)
    phone = Sleeper(meet("ada"), term)
    phone.ada.pick(section)
    ada = phone.sleep()
    meet("ben").enter(term).pick(other)
    laptop = meet("ada").enter(term)
    laptop.ask(section)
    laptop.confirm()
    laptop.pick(last_seat)
    later = window.closes + 600 * builders.MINUTE
    portal.backend.ledger.extend_window(term.id, window.id, later, "tests")
    ada.has(section, "selected")
    phone.wake(AWAKE[how])
    expect(ada.seats(other)).to_contain_text("1 of 2", timeout=BRIEF)
    ada.has(section, "")
    ada.has(last_seat, "selected")
    expect(ada.mine).to_contain_text(last_seat.title)
    expect(ada.page.locator("#banner")).to_have_attribute("data-closes", str(later))
    expect(ada.page.locator("#banner .clock")).to_contain_text("10:2")
    expect(ada.page.locator("#connection")).to_be_hidden()


def test_a_phone_that_slept_through_the_opening_can_pick(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    window = builders.a_coming_window(term, minutes=60)
    phone = Sleeper(meet("ada"), term)
    ada = phone.sleep()
    opens = portal.backend.ledger.now() + 400
    portal.backend.ledger.move_window(term.id, window.id, opens, window.closes, "tests")
    expect(ada.page.locator("#banner")).to_have_attribute("data-phase", "before")
    phone.wake()
    expect(ada.page.locator("#banner")).to_have_attribute("data-phase", "open", timeout=BRIEF)
    ada.pick(section)


def test_a_section_that_was_canceled_meanwhile_says_so(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    phone = Sleeper(meet("ada"), term)
    phone.ada.pick(section)
    ada = phone.sleep()
    cancel(section)
    laptop = meet("ada")
    laptop.go(f"/terms/{term.id}")
    laptop.asks_until(laptop.page.locator(f"body:not(:has(#section-{section.id}))"))
    phone.wake()
    expect(ada.seats(section)).to_contain_text("Canceled", timeout=BRIEF)
    expect(ada.mine).not_to_contain_text(section.title)


def test_a_lost_connection_is_shown_after_three_seconds_and_not_before(
    meet: Meet, term: Term, section: Section
) -> None:
    ada = meet("ada")
    ada.expected = LOST
    line = Line().lay(ada.page)
    ada.page.clock.install()
    ada.enter(term)
    assert section.id
    ada.page.clock.pause_at(datetime.now().astimezone() + timedelta(seconds=5))
    ada.page.evaluate(LOST_ONCE)
    line.cut()
    ada.until("window.lost")
    ada.page.clock.run_for(2500)
    expect(ada.page.locator("#connection")).to_be_hidden()
    ada.page.clock.run_for(1000)
    expect(ada.page.locator("#connection")).to_be_visible()
    expect(ada.page.locator("#connection")).to_contain_text("Live updates are paused")


def test_a_browser_without_a_network_says_so_at_once(
    meet: Meet, term: Term, section: Section
) -> None:
    ada = meet("ada")
    ada.expected = LOST
    ada.page.clock.install()
    ada.enter(term)
    assert section.id
    ada.page.clock.pause_at(datetime.now().astimezone() + timedelta(seconds=5))
    context_of(ada).set_offline(True)
    expect(ada.page.locator("#connection")).to_contain_text("You are offline")
    expect(ada.page.locator("#connection")).to_be_visible()
