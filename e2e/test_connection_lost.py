"""The network or the web server goes away for a while: a quiet word, and nothing is missed."""

import re

from playwright.sync_api import expect

from e2e.person import Meet, context_of
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders

# What a browser says of a network or a web server that is gone; htmx prints the event alone.
LOST = re.compile(r"ERR_|WebSocket connection|\[object Event\]|wsError|status of 503")
BACK = 60_000  # ms for a page to be live again, which asks again after a pause


def test_a_page_that_was_offline_catches_up(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    window = builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.expected = LOST
    banner = ada.page.locator("#connection")
    expect(banner).to_be_hidden()
    context_of(ada).set_offline(True)
    ada.page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(banner).to_be_visible()
    ben.pick(section)
    later = window.closes + builders.MINUTE
    portal.backend.ledger.extend_window(term.id, window.id, later, "tests")
    context_of(ada).set_offline(False)
    expect(banner).to_be_hidden()
    expect(ada.seats(section)).to_contain_text("19 of 20")
    expect(ada.page.locator("#banner")).to_have_attribute("data-closes", str(later))


def test_a_web_server_that_was_killed_is_back_and_so_is_the_page(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    for person in (ada, ben):
        person.expected = LOST
    portal.kill_web()
    portal.wait()
    ben.pick(section)
    expect(ada.seats(section)).to_contain_text("19 of 20", timeout=BACK)
    expect(ada.page.locator("#connection")).to_be_hidden(timeout=BACK)
    portal.audit(term.name)


def test_a_page_without_a_socket_asks_now_and_then(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada"), meet("ben").enter(term)
    ada.expected = LOST
    ada.page.route_web_socket("**/ws", lambda socket: socket.close())
    ada.go(f"/terms/{term.id}")
    expect(ada.page.locator("#connection")).to_be_visible()
    ben.pick(section)
    expect(ada.seats(section)).to_contain_text("19 of 20")
