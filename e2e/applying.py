"""Steps of the stories about applications: fill in, upload, submit, decide."""

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from e2e.person import Person
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders

SENT = "You have nothing to do now."


def end_the_window(term: Term) -> None:
    """The term has had a window, which has ended."""
    window = builders.an_open_window(term)
    backend().ledger.close_window(term.id, window.id, "tests")


def begin_late_add(person: Person, term: Term, section: Section) -> None:
    """Fill in an application for a late add, up to its documents."""
    page = person.page
    person.go(f"/terms/{term.id}/applications")
    page.get_by_role("link", name=re.compile("Start.*Late add")).click()
    page.get_by_label("Class").fill(section.crn)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Why do you need this class?").fill("I need it to graduate.")
    page.get_by_role("button", name="Save and continue").click()


def begin_visit(page: Page, section: Section, term: Term) -> None:
    """Fill in an application of a visiting student, up to its documents."""
    page.get_by_role("link", name=re.compile(f"Start.*{term.name}")).click()
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Undergraduate student").check()
    page.get_by_label("Phone").fill("+1 555 010 0199")
    page.get_by_label("Postal address").fill("1 Main Street")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Which courses").fill(section.crn)
    page.get_by_label("How are you prepared").fill("I took the courses before it.")
    page.get_by_label("Everything I say here is true").check()
    page.get_by_role("button", name="Save and continue").click()


def choose(person: Person, file: Path) -> None:
    """Send a file as the first document that the kind wants."""
    person.page.get_by_label(re.compile("^(Supporting letter|Transcript or cert)")).set_input_files(
        file
    )
    person.page.get_by_role("button", name="Add the document").first.click()


def add_document(person: Person, file: Path) -> None:
    """Send a file as the first document, and wait until it is checked."""
    choose(person, file)
    expect(person.page.get_by_text(file.name, exact=True)).to_be_visible()
    person.asks_until(person.page.get_by_text("Checked", exact=True))


def send(person: Person) -> None:
    """Go on from the documents or the fee, and send the application."""
    person.page.get_by_role("link", name="Continue", exact=True).click()
    person.page.get_by_role("button", name="Send the application").click()
    expect(person.page.get_by_text(SENT)).to_be_visible()


def address_of_decision(page: Page) -> str:
    """The decider's address of the application that its applicant has on screen."""
    return f"/admin/applications/{page.url.rsplit('/', 1)[1]}"


def decide(boss: Page, address: str, button: str, reason: str) -> None:
    """Decide the application there, with a reason."""
    boss.goto(address)
    boss.get_by_label("Reason").fill(reason)
    with boss.expect_response(lambda response: response.request.method == "POST"):
        boss.get_by_role("button", name=button).click()


def sees(person: Person, shown: Locator, *, scripts: bool) -> None:
    """See that something comes: live, or without scripts after reloading the page."""
    if scripts:
        expect(shown).to_be_visible()
    else:
        person.asks_until(shown)
