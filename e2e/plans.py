"""What a person does with a plan on screen."""

from playwright.sync_api import Locator, expect

from e2e.person import Person
from portal.catalog.models import Section

ASLEEP, AWAKE = ".plan-asleep", ".plan-submit"


def plan(person: Person, section: Section, place: str = "") -> None:
    """Through the dialog, from the section's row."""
    person.row(section).locator(".row-plan").click()
    expect(person.dialog).to_be_visible()
    if place:
        person.dialog.get_by_label("Where in your plan?").select_option(place)
    person.confirm()
    expect(person.row(section).locator(".row-plan")).to_contain_text("Planned")


def lines(person: Person) -> Locator:
    """The lines of the plan on the page."""
    return person.page.locator("#plan .plan-line")


def results(person: Person) -> Locator:
    """What came of each line."""
    return person.page.locator(".plan-results > li")


def outcomes(person: Person) -> list[str | None]:
    """What came of each line, in a word."""
    expect(results(person).first).to_be_visible()
    return [each.get_attribute("data-outcome") for each in results(person).all()]
