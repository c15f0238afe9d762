"""Someone who waits, and the frame of the page that is not to move meanwhile."""

from playwright.sync_api import expect

from e2e.person import Person
from e2e.test_lobby import banner_is

PLACES = ".topbar a, #banner, #gate, #filters *, .section-row, .row-act"
FRAME = f"""() => [...document.querySelectorAll("{PLACES}")]
    .map((it) => it.getBoundingClientRect().toJSON())"""


def waits_as(person: Person, number: int) -> Person:
    """See that the person waits with that number."""
    banner_is(person, "line")
    title = person.page.locator("#banner .banner-title")
    expect(title).to_have_text(f"You are number {number} in the queue")
    return person
