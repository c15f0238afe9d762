"""A student asks for consent from the picker, the instructor agrees, and the student adds."""

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Term
from portal.people import caches
from tests import cast as builders
from tests.cast import Cast


def test_consent_is_asked_for_given_and_used(meet: Meet, term: Term, cast: Cast) -> None:
    builders.an_open_window(term)
    facts = {"capacity": 2, "instructor": cast.iris, "consent": True}
    section = builders.a_section(builders.a_course("ART-1"), term, **facts)
    ada, iris = meet("ada").enter(term), meet("iris")
    ada.go(f"/terms/{term.id}")
    row = ada.page.locator(f"#section-{section.id}")
    expect(row).to_contain_text("Consent needed")
    row.get_by_role("link", name="Ask for consent").press("Enter")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_label("Why do you want to take this class?").fill("I draw every day.")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_role("button", name="Send").click()
    expect(ada.page.get_by_text("Instructor", exact=True).first).to_be_visible()

    iris.go(f"/teaching/sections/{section.id}")
    iris.page.get_by_role("link", name="Students who ask").click()
    iris.page.get_by_role("link", name="Instructor’s consent").first.click()
    expect(iris.page.get_by_text("I draw every day.")).to_be_visible()
    iris.page.get_by_label("Reason").fill("Your drawings are good.")
    iris.page.get_by_role("button", name="Approve").click()
    expect(iris.page.get_by_text("Approved: Instructor’s consent")).to_be_visible()

    caches.apply_changes(None)
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    ada.page.get_by_role("button", name="Add class").click()
    expect(ada.page.get_by_text("You added ART 1-01.").first).to_be_visible()
    iris.go(f"/teaching/sections/{section.id}")
    expect(iris.page.get_by_text("Has a seat")).to_be_visible()
