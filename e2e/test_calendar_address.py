"""Ada and Ben take their classes to their own calendars, by an address that is a secret."""

import re
from urllib.parse import urlsplit

from icalendar import Calendar, Event
from playwright.sync_api import expect

from e2e import axe
from e2e.person import HARMLESS, Meet, Person, context_of
from e2e.portal import Running
from portal.catalog.models import Course, Term
from tests import cast as builders
from tests.cast import Meets


def test_what_ada_picks_is_in_her_calendar_without_scripts_too(
    meet: Meet, portal: Running, term: Term, course: Course
) -> None:
    section = builders.a_section(course, term, meetings=(Meets("MR", room="Alder Hall 101"),))
    builders.an_open_window(term)
    meet("ada").enter(term).pick(section)
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}/schedule")
    ada.page.get_by_role("link", name="Add to my calendar").click()
    make(ada)
    portal.audit(term.name)  # until then what was picked may not be recorded
    event = newest(ada, address_of(ada))
    assert event["LOCATION"] == "Alder Hall 101"
    assert event["DTSTART"].dt.hour == 10


def test_a_secret_address_is_copied_renewed_and_ended(meet: Meet, term: Term) -> None:
    ben = meet("ben", permissions=["clipboard-read", "clipboard-write"])
    ben.expected = re.compile(rf"{HARMLESS.pattern}|status of 404")
    ben.go(f"/terms/{term.id}/schedule/feed")
    make(ben)
    assert not axe.barriers(ben.page)
    old = address_of(ben)
    ben.page.get_by_role("button", name="Copy").click()
    expect(ben.page.get_by_role("button", name="Copied")).to_be_visible()
    assert ben.page.evaluate("navigator.clipboard.readText()") == old
    assert status(ben, old) == 200
    ben.page.get_by_role("button", name="Create new address").click()
    expect(ben.page.locator("#toasts")).to_contain_text("new calendar link")
    new = address_of(ben)
    assert new != old
    assert (status(ben, old), status(ben, new)) == (404, 200)
    ben.page.get_by_role("button", name="Turn off").click()
    expect(ben.page.get_by_role("button", name="Create my address")).to_be_visible()
    assert status(ben, new) == 404


def make(person: Person) -> None:
    """Make an address where there is none yet."""
    button = person.page.get_by_role("button", name="Create my address")
    field = person.page.get_by_label("Your secret address")
    expect(button.or_(field)).to_be_visible()
    if button.is_visible():
        button.click()
    expect(field).to_be_visible()


def address_of(person: Person) -> str:
    return person.page.get_by_label("Your secret address").input_value()


def status(person: Person, address: str) -> int:
    return context_of(person).request.get(urlsplit(address).path).status


def newest(person: Person, address: str) -> Event:
    """The class of the story's own term, the last of all that the address gives."""
    answer = context_of(person).request.get(urlsplit(address).path)
    return Calendar.from_ical(answer.body()).walk("VEVENT")[-1]
