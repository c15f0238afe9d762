"""A registrar prepares the next term from this one, while students see nothing of it."""

from playwright.sync_api import expect

from e2e.person import Meet
from e2e.portal import Running
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim


def test_registrar_copies_a_term_publishes_it_and_students_find_it(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.a_coming_window(term, minutes=60 * 24 * 400)
    name = f"{term.name}, copied"
    boss, ada = meet("max"), meet("ada")
    boss.go("/admin")
    boss.page.get_by_role("link", name="New term").click()
    boss.page.get_by_label("Name").fill(name)
    boss.page.get_by_label("First day").fill("2031-08-25")
    boss.page.get_by_label("Last day").fill("2031-12-19")
    boss.page.get_by_label("Copy from").select_option(label=term.name)
    boss.page.get_by_label("Reason").fill("The next fall is planned.")
    boss.page.get_by_role("button", name="Create term").click()
    expect(boss.page.get_by_role("heading", name=name)).to_be_visible()
    expect(boss.page.locator(".facts .badge")).to_have_text("Draft")
    address = boss.page.url

    other = builders.a_term(f"{term.name}, second")  # with a single term, / leads to its page
    ada.go("/?all")
    expect(ada.page.get_by_text(other.name)).to_be_visible()
    expect(ada.page.get_by_text(name)).to_have_count(0)

    boss.page.get_by_role("link", name="Copy windows").click()
    boss.page.get_by_label("Copy windows from").select_option(label=term.name)
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("As last year.")
    boss.page.get_by_role("button", name="Schedule these windows").click()
    expect(boss.page.get_by_text("1 window is scheduled.")).to_be_visible()

    boss.go(address)
    boss.page.get_by_role("link", name="Publish the term").click()
    boss.dialog.get_by_label("Reason").fill("The catalog is complete.")
    boss.dialog.get_by_role("button", name="Publish the term").click()
    expect(boss.page.locator(".facts .badge")).to_have_text("Published")

    found = ada.page.get_by_role("link", name=name).first
    ada.asks_until(found)
    found.click()
    expect(ada.page.locator("#banner")).to_contain_text("Opens on")
    expect(ada.page.locator(".section-row")).to_contain_text(section.title)


def test_an_archived_term_leaves_the_lists_keeps_its_schedule_and_comes_back(
    portal: Running, meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    claim(cast.ada, section)
    backend().ledger.close_window(term.id, window.id, "tests")
    portal.audit(term.name)  # once it is recorded, the term may be archived
    builders.a_term(f"{term.name}, second")
    boss, ada = meet("max"), meet("ada")
    boss.go(f"/admin/terms/{term.id}")
    badge = boss.page.locator(".facts .badge")
    found = ada.page.get_by_role("link", name=term.name, exact=True)  # not the second
    ada.go("/?all")
    expect(found.first).to_be_visible()
    for button, state, listed in (
        ("Archive the term", "Archived", False),
        ("Bring the term back", "Published", True),
    ):
        boss.page.get_by_role("link", name=button).click()
        boss.dialog.get_by_label("Reason").fill("The semester is over.")
        boss.dialog.get_by_role("button", name=button).click()
        expect(badge).to_have_text(state)
        if not listed:
            ada.go(f"/terms/{term.id}/schedule")
            expect(ada.page.locator("main")).to_contain_text(section.title)
        while (ada.go("/?all") and found.count() > 0) != listed:
            ada.page.wait_for_timeout(300)
