"""Stripe goes away between the fee's page and the press, and everything else goes on."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from e2e.applying import (
    add_document,
    address_of_decision,
    begin_late_add,
    begin_visit,
    decide,
    end_the_window,
    sees,
    send,
)
from e2e.conftest import TIMEOUT
from e2e.contrast import NARROW
from e2e.person import Person
from e2e.portal import Running, running
from e2e.sizes import too_wide
from portal import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications import stripe_api
from tests.applications.files import a_pdf
from tests.applications.stripe_api import SECRET, Account
from tests.soak import only_in_soak

DOWN = "The payment provider isn’t responding"
UNAVAILABLE = re.compile("Failed to load resource: .* status of 503")
PATIENCE = 180.0  # seconds until the breaker lets a call through


@dataclass
class Town:
    """A portal whose fees go to a stand-in of Stripe."""

    portal: Running
    stripe: Account
    browser: Browser

    def meet(
        self, username: str, *, viewport: ViewportSize | None = None, scripts: bool = True
    ) -> Person:
        """Bring someone on screen, logged in."""
        context = self.browser.new_context(
            base_url=self.portal.address, viewport=viewport, java_script_enabled=scripts
        )
        context.set_default_timeout(TIMEOUT)
        person = Person(context.new_page())
        person.log_in(username)
        return person


@pytest.fixture
def town(portal: Running, browser: Browser, tmp_path: Path) -> Iterator[Town]:
    """It starts with everyone who is in each story, and ends after the story."""
    with stripe_api.stripe_api() as stripe:
        stripe.pages = f"{stripe.url}/pay"
        settings = {
            "FAIRSEAT_PAYMENTS": "stripe",
            "FAIRSEAT_STRIPE_KEY": "sk_test_x",
            "FAIRSEAT_STRIPE_WEBHOOK_SECRET": SECRET,
            "FAIRSEAT_STRIPE_URL": stripe.url,
            "FAIRSEAT_STRIPE_CHECKOUT": stripe.url,
            "WEB_CONCURRENCY": "1",  # each process has a breaker
        }
        try:
            with running(tmp_path / "var", settings=settings) as mine:
                builders.assemble()
                yield Town(mine, stripe, browser)
                for context in browser.contexts:
                    context.close()
        finally:
            backend.use(portal.backend)


def begin(
    town: Town, name: str, section: Section, term: Term, letter: Path, *, scripts: bool
) -> Person:
    """Fill in an application of a visiting student, up to its fee."""
    builders.an_account(name, email=f"{name}@example.org")
    person = town.meet(name, viewport=NARROW, scripts=scripts)
    begin_visit(person.page, section, term)
    add_document(person, letter)
    person.page.get_by_role("link", name="Continue").click()
    expect(person.page.get_by_role("button", name="Pay now")).to_be_visible()
    return person


def press(page: Page) -> None:
    """Press, and see the answer."""
    with page.expect_navigation():
        page.get_by_role("button", name="Pay now").click()


def press_until_the_breaker_opens(page: Page) -> None:
    """Press again until the page says before the press that it would be in vain."""
    here, deadline = page.url, time.monotonic() + PATIENCE
    while not page.get_by_role("status").filter(has_text=DOWN).is_visible():
        assert time.monotonic() < deadline
        press(page)
        expect(page.locator(".errors")).to_contain_text(DOWN)
        page.goto(here)


def open_checkout(page: Page) -> str:
    """Press until the page of Stripe comes; return which it is."""
    page.get_by_role("link", name="Pay the fee").first.click()
    paying, deadline = page.get_by_role("heading", name="Your payment"), time.monotonic() + PATIENCE
    while not paying.is_visible():
        assert time.monotonic() < deadline
        page.wait_for_timeout(1000)
        press(page)
    return page.url.rsplit("/", 1)[1]


@only_in_soak
def test_stripe_is_away_for_a_while(town: Town, tmp_path: Path) -> None:
    term = builders.a_term()
    section = builders.a_section(builders.a_course(), term, capacity=20)
    end_the_window(term)
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(a_pdf())
    vee = begin(town, "vee", section, term, letter, scripts=True)
    wim = begin(town, "wim", section, term, letter, scripts=False)

    town.stripe.away = True
    for each in (vee, wim):
        each.expected = UNAVAILABLE
        press(each.page)
        expect(each.page.locator(".errors")).to_contain_text(DOWN)
    press_until_the_breaker_opens(vee.page)
    assert not too_wide(vee.page)

    # Both send their applications, and another student gets a seat.
    for each in (vee, wim):
        each.page.get_by_role("link", name="Pay later").click()
        each.page.get_by_role("button", name="Send the application").click()
        expect(each.page.get_by_text("Pay the fee. Your application is")).to_be_visible()
        expect(each.page.get_by_text("In review", exact=True).first).to_be_visible()
    builders.a_student("other")
    other, boss = town.meet("other"), town.meet("max").page
    begin_late_add(other, term, section)
    add_document(other, letter)
    send(other)
    decide(boss, address_of_decision(vee.page), "Approve", "Welcome.")
    expect(boss.get_by_text("The fee is not paid yet.")).to_be_visible()
    decide(boss, address_of_decision(other.page), "Approve", "Welcome.")
    sees(other, other.page.get_by_text("Approved and carried out").first, scripts=True)
    other.go(f"/terms/{term.id}/schedule")
    expect(other.page.get_by_role("row", name="CSC 1100")).to_be_visible()

    town.stripe.away = False
    here, checkout = vee.page.url, open_checkout(vee.page)
    vee.go(here)
    town.stripe.pays(checkout)
    body, signature = town.stripe.message("completed", checkout)
    headers = {"Stripe-Signature": signature}
    assert boss.request.post("/payments/stripe", data=body, headers=headers).status == 204
    expect(vee.page.get_by_text("Paid", exact=True)).to_be_visible()

    open_checkout(wim.page)
    wim.page.get_by_role("button", name="Confirm").click()
    # A worker may ask the provider at the same moment, and store its answer a moment later.
    sees(wim, wim.page.get_by_text("Paid", exact=True), scripts=False)
    assert len(town.stripe.sessions) == 2
    town.portal.audit(term.name)
