"""Who presses too often is asked to wait, and then sends the same again: it counts once."""

import re

from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.protection.used_up_limits import exhaust_decisions

WAIT = 10  # seconds: longer than any browser takes to press a button
LIMITED = re.compile(r"status of 429|Error Code 429")


def test_the_dialog_has_the_form_to_send_again(
    meet: Meet, portal: Running, section: Section, term: Term, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.expected = LIMITED
    ada.ask(section)
    exhaust_decisions(term.id, cast.ada.id, seconds=WAIT)
    ada.dialog.locator("button[type=submit]").click()
    expect(ada.dialog).to_contain_text("Too many attempts")
    expect(ada.dialog).to_contain_text("Your seats and waitlist positions are safe")
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 0
    ada.page.wait_for_timeout(WAIT * 1000)
    ada.dialog.get_by_role("button", name="Send again").click()
    expect(ada.dialog).to_be_hidden()
    ada.has(section, "selected")
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 1


def test_so_does_the_page_without_scripts(
    meet: Meet, section: Section, term: Term, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.expected = LIMITED
    ada.go(f"/terms/{term.id}")
    ada.cell(section).get_by_role("link").click()
    exhaust_decisions(term.id, cast.ada.id, seconds=WAIT)
    ada.page.locator("form button[type=submit]", has_text="Add").click()
    expect(ada.page.get_by_role("heading", level=1)).to_have_text("Too many attempts")
    ada.page.wait_for_timeout(WAIT * 1000)
    ada.page.get_by_role("button", name="Send again").click()
    expect(ada.mine).to_contain_text(section.title)
