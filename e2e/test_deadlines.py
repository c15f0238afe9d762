"""A registrar sets a deadline, and students with an open page see it and what to do after it."""

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders


def test_a_last_day_to_add_reaches_open_pages_and_leads_to_an_application(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max"), meet("ada")
    ada.go(f"/terms/{term.id}")
    shown = ada.page.locator("#deadlines")
    expect(shown).to_be_hidden()
    boss.go(f"/admin/terms/{term.id}/rules")
    boss.page.get_by_label("Last day to add").fill("2030-09-06")
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("The senate decided it.")
    boss.page.get_by_role("button", name="Save rules").click()
    expect(boss.page.get_by_text("saved")).to_be_visible()
    expect(shown).to_have_text("Last day to add: Sep 6")

    builders.set_deadlines(term, add_deadline=-2)
    expect(shown).not_to_have_text("Last day to add: Sep 6")
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    expect(ada.page.get_by_role("alert")).to_contain_text("The last day to add classes was")
    ada.page.get_by_role("link", name="Ask for a late add").click()
    expect(ada.page.get_by_role("heading", name="Late add")).to_be_visible()
