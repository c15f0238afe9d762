"""The payment provider does not answer while someone pays, and everything else goes on."""

import re
from email import message_from_bytes, policy
from pathlib import Path

from playwright.sync_api import expect

from e2e.person import Meet, Person
from e2e.portal import Running
from e2e.test_visiting import fill_in
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications.files import a_pdf
from tests.recorder.processes import wait_for


def subjects(portal: Running, address: str) -> list[str]:
    """The subjects of the mails to that address."""
    found = (
        message_from_bytes(file.read_bytes(), policy=policy.default)
        for file in (portal.folder / "mail").glob("*.eml")
    )
    return [str(each["Subject"]) for each in found if address in each["To"]]


def petition(person: Person, term: Term, section: Section, letter: Path) -> None:
    """A late add with a document, sent."""
    page = person.page
    person.go(f"/terms/{term.id}/applications")
    page.get_by_role("link", name=re.compile("Start.*Late add")).click()
    page.get_by_label("Class").fill(section.crn)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Why do you need this class?").fill("I need it to graduate.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Supporting letter or note").set_input_files(letter)
    page.get_by_role("button", name="Add the document").click()
    person.asks_until(page.get_by_text("Checked"))
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_text("You have nothing to do now.")).to_be_visible()


def test_someone_pays_later_and_nobody_else_notices(
    meet: Meet, portal: Running, term: Term, section: Section, tmp_path: Path
) -> None:
    window = builders.an_open_window(term)
    backend().ledger.close_window(term.id, window.id, "tests")
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(a_pdf())
    name, address = f"vee{term.id}", f"vee{term.id}@example.org"
    builders.an_account(name, email=address)
    vee = meet(name)
    page = vee.page
    vee.go("/")
    fill_in(page, section, term)
    page.get_by_label("Transcript or certificate").set_input_files(letter)
    page.get_by_role("button", name="Add the document").first.click()
    vee.asks_until(page.get_by_text("Checked"))
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Time out").click()
    expect(page.get_by_text("Not paid yet", exact=True)).to_be_visible()

    petition(meet("ada"), term, section, letter)

    page.get_by_role("link", name="Pay later").click()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_role("link", name="Pay the fee").first).to_be_visible()
    wait_for(lambda: subjects(portal, address), 60)

    page.get_by_role("link", name="Pay the fee").first.click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Succeed").click()
    expect(page.get_by_text("Paid", exact=True)).to_be_visible()
