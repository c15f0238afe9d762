"""A registrar sets a deadline, and students with an open page see it and what to do after it."""

import re

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders


def test_a_last_day_to_add_reaches_open_pages_and_leads_to_an_application(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term, minutes=5 * 24 * 60)
    boss, ada = meet("max"), meet("ada").enter(term)
    banner = ada.page.locator("#banner")
    expect(banner.get_by_role("timer")).to_contain_text(re.compile("^[45] d"))
    shown = ada.page.locator("#deadlines")
    expect(shown).to_be_hidden()
    boss.go(f"/admin/terms/{term.id}/rules")
    boss.page.get_by_label("Last day to add").fill("2030-09-06")
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("The senate decided it.")
    boss.page.get_by_role("button", name="Save rules").click()
    expect(boss.page.get_by_text("saved")).to_be_visible()
    expect(shown).to_have_text("Last day to add: Sep 6")

    # The time that counts is shown, and why it has changed.
    builders.set_deadlines(term, add_deadline=2)
    expect(banner).to_contain_text("You can add classes until")
    expect(banner.get_by_role("timer")).to_contain_text(re.compile("^2 d"))
    changed = "The registrar changed the time: you can add classes until"
    expect(ada.page.locator("#toasts")).to_contain_text(changed)
    builders.set_deadlines(term, add_deadline=-2)
    expect(shown).not_to_have_text("Last day to add: Sep 6")
    expect(banner.locator(".banner-title")).to_have_text("The last day to add has passed")
    expect(banner.get_by_role("timer")).to_contain_text(re.compile("^[45] d"))
    expect(ada.cell(section)).to_contain_text("Too late to add")
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    expect(ada.page.get_by_role("alert")).to_contain_text("The last day to add classes was")
    ada.page.get_by_role("link", name="Ask for a late add").click()
    expect(ada.page.get_by_role("heading", name="Late add")).to_be_visible()
