"""A visitor signs up on a phone, applies with documents and a fee, and registers for a class."""

import re
import time
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from e2e.applying import (
    PHONE,
    TOO_WIDE,
    add_document,
    address_of_decision,
    begin_visit,
    decide,
    sees,
    send,
)
from e2e.axe import barriers
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications import files
from tests.cast import Cast

PASSWORD = "four unrelated words of mine"


def link_for(address: str, mails: Path) -> str:
    """The link in the mail to that address, once it has been sent."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for file in mails.glob("link-*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=policy.default)
            if address in mail["To"]:
                text = mail.get_content()
                return str(re.findall(r"https?://[^/\s]+(/sign-up/\S+)", text)[0])
        time.sleep(0.1)
    raise AssertionError(f"no mail to {address}")


def sign_up(person: Person, address: str, mails: Path) -> None:
    page = person.page
    person.go("/visiting")
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Email address").fill(address)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    person.go(link_for(address, mails))
    page.get_by_label("Your full name").fill("Vera Visitor")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Create my account").click()
    expect(page.get_by_role("heading", name="My applications")).to_be_visible()


def fits(page: Page, *, scripts: bool) -> None:
    """See that the page needs no scrolling to the side, and has no barriers."""
    if scripts:
        assert not page.evaluate(TOO_WIDE)
        assert not barriers(page)


@pytest.mark.parametrize("scripts", [True, False])
def test_a_visitor_becomes_a_student(  # noqa: PLR0917  the fixtures
    meet: Meet,
    portal: Running,
    term: Term,
    section: Section,
    cast: Cast,
    tmp_path: Path,
    *,
    scripts: bool,
) -> None:
    builders.an_open_window(term)
    grades = tmp_path / "grades.pdf"
    grades.write_bytes(files.a_pdf(2))
    person = meet(viewport=PHONE, java_script_enabled=scripts)
    page = person.page
    sign_up(person, f"vera{term.id}@example.org", portal.folder / "mail")
    begin_visit(page, section, term)
    add_document(person, grades)
    fits(page, scripts=scripts)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Succeed").click()
    expect(page.get_by_text("Paid", exact=True)).to_be_visible()
    fits(page, scripts=scripts)
    send(person)
    fits(page, scripts=scripts)
    here, address = page.url, address_of_decision(page)

    boss = meet("max").page
    boss.goto(address)
    expect(boss.get_by_role("img", name="Page 1 of 2")).to_be_visible()
    decide(boss, address, "Ask for more", "Which semester are you in?")
    sees(person, page.get_by_text("Which semester are you in?").first, scripts=scripts)
    page.get_by_role("link", name="Continue the form").click()
    page.get_by_role("button", name="Send the application").click()
    deputy = builders.an_account(f"deputy{term.id}", is_admin=True)
    for decider in (boss, meet(deputy.username).page):  # two stages need two people
        decide(decider, address, "Approve", "Welcome.")
    page.goto(here)
    sees(person, page.get_by_text("Approved and carried out").first, scripts=scripts)

    if scripts:
        page.wait_for_timeout(2_500)  # each web process learns of the new role within two seconds
        person.prove()
        person.enter(term).pick(section)
        person.has(section, "selected")
    assert cast.max
