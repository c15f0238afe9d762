"""The payment provider does not answer while someone pays, and everything else goes on."""

from email import message_from_bytes, policy
from pathlib import Path

from playwright.sync_api import expect

from e2e.applying import add_document, begin_late_add, begin_visit, end_the_window, send
from e2e.person import Meet
from e2e.portal import Running
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


def test_someone_pays_later_and_nobody_else_notices(
    meet: Meet, portal: Running, term: Term, section: Section, tmp_path: Path
) -> None:
    end_the_window(term)
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(a_pdf())
    name, address = f"vee{term.id}", f"vee{term.id}@example.org"
    builders.an_account(name, email=address)
    vee = meet(name)
    page = vee.page
    vee.go("/")
    begin_visit(page, section, term)
    add_document(vee, letter)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Time out").click()
    expect(page.get_by_text("Not paid yet", exact=True)).to_be_visible()

    builders.a_student(f"other{term.id}")
    other = meet(f"other{term.id}")
    begin_late_add(other, term, section)
    add_document(other, letter)
    send(other)

    page.get_by_role("link", name="Pay later").click()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_role("link", name="Pay the fee").first).to_be_visible()
    wait_for(lambda: subjects(portal, address), 60)

    page.get_by_role("link", name="Pay the fee").first.click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Succeed").click()
    expect(page.get_by_text("Paid", exact=True)).to_be_visible()
