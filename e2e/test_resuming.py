"""A session ends in the middle of a pick: it is said, and a login leads back to the same pick."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from e2e import variants
from e2e.person import Meet, Person, context_of
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import PASSWORD

ENDED = re.compile("status of (401|422)|responseError|Response Status Error|WebSocket connection")


def log_in_again(person: Person) -> None:
    """Through the form that the page leads to."""
    page = person.page
    expect(page.get_by_role("alert")).to_contain_text("You were logged out. Nothing was changed.")
    expect(page.get_by_role("alert")).to_contain_text("Log in to continue adding CSC")
    page.get_by_label("Username").fill("ada")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="Add CSC")).to_be_visible()


@variants.screens("phone")
@pytest.mark.parametrize("opened", [False, True], ids=["before the dialog", "in the dialog"])
def test_a_pick_goes_on_after_a_login(  # noqa: PLR0917
    meet: Meet, portal: Running, term: Term, section: Section, screen: dict[str, int], opened: Any
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term, f"?q={section.crn}")
    ada.expected = ENDED
    if opened:
        ada.ask(section)
        context_of(ada).clear_cookies(name="fairseat")
        ada.dialog.locator("button[type=submit]").press("Enter")
    else:
        context_of(ada).clear_cookies(name="fairseat")
        ada.cell(section).get_by_role("link").press("Enter")
    expect(ada.dialog.get_by_role("heading", name="You were logged out")).to_be_focused()
    expect(ada.dialog).to_contain_text("Log in to continue adding CSC")
    ada.dialog.get_by_role("link", name="Log in").click()
    log_in_again(ada)
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 0
    ada.page.get_by_role("button", name="Add class").click()
    ada.has(section, "selected")
    expect(ada.page.get_by_role("searchbox")).to_have_value(section.crn)
    portal.audit(term.name)


def test_without_scripts_it_is_the_same(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.expected = ENDED
    ada.go(f"/terms/{term.id}?q={section.crn}")
    ada.cell(section).get_by_role("link").click()
    ada.page.get_by_role("checkbox").uncheck()
    context_of(ada).clear_cookies(name="fairseat")
    ada.page.get_by_role("button", name="Add class").click()
    log_in_again(ada)
    expect(ada.page.get_by_role("checkbox")).not_to_be_checked()
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 0
    ada.page.get_by_role("button", name="Add class").click()
    ada.has(section, "selected")


def test_a_search_says_that_one_is_logged_out_and_leads_back_to_itself(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.expected = ENDED
    context_of(ada).clear_cookies(name="fairseat")
    ada.page.get_by_role("searchbox").fill("x")
    expect(ada.page.locator("#logged-out")).to_contain_text("You were logged out")
    expect(ada.row(section)).to_be_visible()
    link = ada.page.locator("#logged-out").get_by_role("link")
    expect(link).to_have_attribute("href", re.compile(f"next=%2Fterms%2F{term.id}"))
