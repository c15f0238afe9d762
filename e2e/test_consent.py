"""A student asks for consent from the picker, the instructor agrees, and the student adds."""

import re

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Course, Term
from tests import cast as builders
from tests.cast import Cast


def test_consent_is_asked_for_given_and_used(
    meet: Meet, course: Course, term: Term, cast: Cast
) -> None:
    builders.an_open_window(term)
    section = builders.a_section(course, term, instructor=cast.iris, consent=True)
    ada, iris = meet("ada").enter(term), meet("iris")
    ada.go(f"/terms/{term.id}")
    row = ada.page.locator(f"#section-{section.id}")
    expect(row).to_contain_text("Instructor must agree")
    row.get_by_role("link", name="Ask the instructor").press("Enter")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_label("Why do you want to take this class?").fill("I draw every day.")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_role("button", name="Send").click()
    expect(ada.page.get_by_text("You have nothing to do now.")).to_be_visible()

    iris.go(f"/teaching/sections/{section.id}")
    iris.page.get_by_role("link", name="Requests for consent").click()
    iris.page.get_by_role("link", name=re.compile("Decide")).first.click()
    expect(iris.page.get_by_text("I draw every day.")).to_be_visible()
    iris.page.get_by_label("Reason").fill("Your drawings are good.")
    iris.page.get_by_role("button", name="Approve").click()
    expect(iris.page.get_by_text("Approved: Instructor’s consent")).to_be_visible()

    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    add = ada.page.get_by_role("button", name="Add class")
    while not add.is_visible():  # a node reads the new permission within two seconds
        ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    add.click()
    expect(ada.page.get_by_text("You added").first).to_be_visible()
    iris.go(f"/teaching/sections/{section.id}")
    expect(iris.page.get_by_text("Has a seat")).to_be_visible()
