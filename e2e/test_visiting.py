"""A visitor signs up on a phone, applies with documents and a fee, and registers for a class."""

import re
import time
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from playwright.sync_api import Page, expect

from e2e import variants
from e2e.applying import (
    add_document,
    address_of_decision,
    begin_visit,
    decide,
    sees,
    send,
)
from e2e.axe import barriers
from e2e.contrast import NARROW
from e2e.person import Meet, Person
from e2e.portal import Running
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications import files
from tests.cast import Cast

PASSWORD = "four unrelated words of mine"


def mail_to(address: str, mails: Path, kind: str) -> EmailMessage:
    """The mail of that kind to that address, once it has been sent."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        for file in mails.glob(f"{kind}-*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=policy.default)
            if address in mail["To"]:
                return mail
        time.sleep(0.1)
    raise AssertionError(f"no mail to {address}")


def link_for(address: str, mails: Path) -> str:
    """The link in the mail to that address."""
    text = mail_to(address, mails, "link").get_content()
    return str(re.findall(r"https?://[^/\s]+(/sign-up/\S+)", text)[0])


def prove_by_mail(person: Person, address: str, mails: Path) -> None:
    """That no robot sits here, in a browser without scripts."""
    page = person.page
    person.go("/captcha")
    page.get_by_role("button", name="Send code").click()
    subject = str(mail_to(address, mails, "code")["Subject"])
    page.get_by_label("Code").fill(re.findall(r"\d{4} \d{4}", subject)[0])
    page.get_by_role("button", name="Check code").click()
    expect(page.get_by_text("Checked: you are not a robot.")).to_be_visible()


def register(person: Person, term: Term, section: Section, *, scripts: bool) -> None:
    """Add the class, and see it among those the student has."""
    if scripts:
        person.enter(term).pick(section)
    else:
        person.go(f"/terms/{term.id}")
        person.cell(section).get_by_role("link").click()
        person.page.get_by_role("button", name="Add class").click()
    person.has(section, "selected")


def sign_up(person: Person, address: str, mails: Path) -> None:
    page = person.page
    person.go("/visiting")
    expect(page.locator(".plain-steps")).to_have_css("list-style-type", "decimal")
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Email address").fill(address)
    page.get_by_role("button", name="Send the link").click()
    expect(page.get_by_role("heading", name="Check your email")).to_be_visible()
    person.go(link_for(address, mails))
    page.get_by_label("Your full name").fill("Vera Visitor")
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Create my account").click()
    expect(page.get_by_role("heading", name="My applications")).to_be_visible()
    page.get_by_role("link", name="Inbox").click()
    page.get_by_role("link", name="Applications", exact=True).click()  # the way back
    expect(page.get_by_role("heading", name="My applications")).to_be_visible()


def fits(page: Page, *, scripts: bool) -> None:
    """See that the page needs no scrolling to the side, and has no barriers."""
    if scripts:
        assert not too_wide(page)
        assert not barriers(page)


@variants.scripts("scripts")
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
    person = meet(viewport=NARROW, java_script_enabled=scripts)
    page = person.page
    mail = f"vera{term.id}@example.org"
    sign_up(person, mail, portal.folder / "mail")
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
    person.go("/")
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("link", name="Continue the form").click()
    page.get_by_role("button", name="Send the application").click()
    deputy = builders.an_account(f"deputy{term.id}", is_admin=True)
    for decider in (boss, meet(deputy.username).page):  # two stages need two people
        decide(decider, address, "Approve", "Welcome.")
    page.goto(here)
    sees(person, page.get_by_text("Approved and carried out").first, scripts=scripts)

    person.asks_until(page.get_by_role("link", name="My plan", exact=True))  # now a student
    if scripts:
        person.prove()
    else:
        prove_by_mail(person, mail, portal.folder / "mail")
    register(person, term, section, scripts=scripts)
    assert cast.max
