"""What a person does with a plan on screen."""

from playwright.sync_api import Locator, expect

from e2e.person import Person
from portal.catalog.models import Section

ASLEEP, AWAKE = ".plan-asleep", ".plan-submit"


def plan(person: Person, section: Section, place: str = "") -> None:
    """By one press in the section's row, and then to another place if one is named."""
    button = person.row(section).locator(".row-plan")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    if place:
        person.page.locator(f'.plan-move[href$="/{section.id}/plan"]').click()
        person.dialog.get_by_label("Where in your plan?").select_option(place)
        person.dialog.get_by_role("button", name="Move", exact=True).click()
        expect(person.dialog).to_be_hidden()
        person.until("!history.state?.dialog")


def lines(person: Person) -> Locator:
    """The lines of the plan on the page."""
    return person.page.locator("#plan .plan-line")


def results(person: Person) -> Locator:
    """What came of each line."""
    return person.page.locator(".plan-results > li")


def outcomes(person: Person) -> list[str | None]:
    """What came of each line, in a word."""
    expect(results(person).first).to_be_visible()
    person.page.wait_for_load_state()  # without scripts the rest of the page may still come
    return [each.get_attribute("data-outcome") for each in results(person).all()]
