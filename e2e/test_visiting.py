"""A visitor signs up on a phone, applies with documents and a fee, and registers for a class."""

import re
import time
from email import message_from_bytes, policy
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.axe import barriers
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications import files
from tests.cast import Cast

PHONE = {"width": 320, "height": 640}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
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


def fill_in(page: Page, section: Section, term: Term) -> None:
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


def fits(page: Page, *, scripts: bool) -> None:
    """See that the page needs no scrolling to the side, and has no barriers."""
    if scripts:
        assert not page.evaluate(TOO_WIDE)
        assert not barriers(page)


def decide(boss: Page, address: str, button: str, reason: str) -> None:
    boss.goto(address)
    boss.get_by_label("Reason").fill(reason)
    with boss.expect_response(lambda response: response.request.method == "POST"):
        boss.get_by_role("button", name=button).click()


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
    fill_in(page, section, term)
    page.get_by_label("Transcript or certificate").set_input_files(grades)
    page.get_by_role("button", name="Add the document").first.click()
    expect(page.get_by_text("grades.pdf", exact=True)).to_be_visible()
    person.asks_until(page.get_by_text("Checked"))
    fits(page, scripts=scripts)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Pay now").click()
    page.get_by_role("button", name="Succeed").click()
    expect(page.get_by_text("Paid", exact=True)).to_be_visible()
    fits(page, scripts=scripts)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_text("You have nothing to do now.")).to_be_visible()
    fits(page, scripts=scripts)
    here = page.url

    boss = meet("max").page
    address = f"/admin/applications/{here.rsplit('/', 1)[1]}"
    boss.goto(address)
    expect(boss.get_by_role("img", name="Page 1 of 2")).to_be_visible()
    decide(boss, address, "Ask for more", "Which semester are you in?")
    _sees(person, page.get_by_text("Which semester are you in?").first, scripts=scripts)
    page.get_by_role("link", name="Continue the form").click()
    page.get_by_role("button", name="Send the application").click()
    deputy = builders.an_account(f"deputy{term.id}", is_admin=True)
    for decider in (boss, meet(deputy.username).page):  # two stages need two people
        decide(decider, address, "Approve", "Welcome.")
    page.goto(here)
    _sees(person, page.get_by_text("Approved and carried out").first, scripts=scripts)

    if scripts:
        page.wait_for_timeout(2_500)  # each web process learns of the new role within two seconds
        person.prove()
        person.enter(term).pick(section)
        person.has(section, "selected")
    assert cast.max


def _sees(person: Person, shown: Locator, *, scripts: bool) -> None:
    if scripts:
        expect(shown).to_be_visible()
    else:
        person.asks_until(shown)
