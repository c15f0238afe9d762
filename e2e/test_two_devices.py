"""An applicant closes the browser halfway, and goes on with another device."""

import re
from pathlib import Path

from playwright.sync_api import expect

from e2e import variants
from e2e.applying import add_document, begin_visit
from e2e.contrast import DESKTOP, NARROW
from e2e.person import Meet, context_of
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications.files import a_pdf


@variants.scripts("scripts")
def test_what_was_saved_on_a_phone_is_there_on_a_computer(
    meet: Meet, term: Term, section: Section, tmp_path: Path, *, scripts: bool
) -> None:
    builders.an_open_window(term)
    grades = tmp_path / "grades.pdf"
    grades.write_bytes(a_pdf())
    name = f"wanda{term.id}"
    builders.an_account(name, email=f"{name}@example.org")
    phone = meet(viewport=NARROW, java_script_enabled=scripts)
    phone.log_in(name)
    begin_visit(phone.page, section, term)
    add_document(phone, grades)
    context_of(phone).close()

    computer = meet(viewport=DESKTOP, java_script_enabled=scripts)
    page = computer.page
    computer.log_in(name)
    expect(page.get_by_text("Not sent yet")).to_be_visible()
    page.get_by_role("link", name="Visiting student", exact=True).click()
    expect(page.get_by_text("1 Main Street")).to_be_visible()
    expect(page.get_by_text("grades.pdf")).to_be_visible()
    page.get_by_role("link", name="Continue the form").click()
    expect(page.get_by_role("heading", name="Check and send")).to_be_visible()
    page.get_by_role("link", name=re.compile("Change.*Postal address")).click()
    page.get_by_label("Postal address").fill("2 Main Street")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_role("button", name="Save and continue").click()
    expect(page.get_by_text("grades.pdf", exact=True)).to_be_visible()
    page.get_by_role("link", name="Continue", exact=True).click()
    page.get_by_role("link", name="Pay later").click()
    expect(page.get_by_text("2 Main Street")).to_be_visible()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_text("In review", exact=True)).to_be_visible()


def test_a_form_left_after_its_first_step_goes_on_at_the_second(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    name = f"xenia{term.id}"
    builders.an_account(name, email=f"{name}@example.org")
    phone = meet(viewport=NARROW)
    phone.log_in(name)
    phone.page.get_by_role("link", name=re.compile(f"Start.*{term.name}")).click()
    phone.page.get_by_role("button", name="Continue").click()
    phone.page.get_by_label("Undergraduate student").check()
    phone.page.get_by_label("Phone").fill("+1 555 010 0199")
    phone.page.get_by_label("Postal address").fill("1 Main Street")
    phone.page.get_by_role("button", name="Save and continue").click()
    phone.page.get_by_label("Which courses").fill(section.crn)
    context_of(phone).close()  # before this step is saved

    computer = meet(viewport=NARROW)
    page = computer.page
    computer.log_in(name)
    page.get_by_role("link", name="Visiting student", exact=True).click()
    page.get_by_role("link", name="Continue the form").click()
    expect(page.get_by_label("Which courses")).to_have_value("")
    assert not too_wide(page)
    page.get_by_label("Which courses").fill(section.crn)
    page.get_by_label("How are you prepared").fill("I took the courses before it.")
    page.get_by_label("Everything I say here is true").check()
    page.get_by_role("button", name="Save and continue").click()
    expect(page.get_by_role("heading", name="Documents")).to_be_visible()
