"""A student applies on a phone, with and without JavaScript, and gets the seat."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications.files import a_pdf
from tests.cast import Cast

PHONE = {"width": 320, "height": 640}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture
def over(term: Term, section: Section) -> Section:
    """A section of a term whose window has ended."""
    window = builders.an_open_window(term)
    backend().ledger.close_window(term.id, window.id, "tests")
    return section


@pytest.mark.parametrize("scripts", [True, False])
def test_a_late_add_on_a_phone(
    meet: Meet, term: Term, over: Section, cast: Cast, tmp_path: Path, *, scripts: bool
) -> None:
    student = cast.ada if scripts else cast.ben
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(a_pdf())
    name = "ada" if scripts else "ben"
    person = meet(name, viewport=PHONE, java_script_enabled=scripts)
    page = person.page
    person.go(f"/terms/{term.id}/applications")
    page.get_by_role("link", name=re.compile("Start.*Late add")).click()
    page.get_by_label("Class").fill(over.crn)
    page.get_by_role("button", name="Continue").click()
    page.get_by_label("Why do you need this class?").fill("I need it to graduate.")
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Supporting letter or note").set_input_files(letter)
    page.get_by_role("button", name="Add the document").click()
    expect(page.get_by_text("letter.pdf", exact=True)).to_be_visible()
    person.asks_until(page.get_by_text("Checked"))
    if scripts:
        assert not page.evaluate(TOO_WIDE)
    page.get_by_role("link", name="Continue").click()
    page.get_by_role("button", name="Send the application").click()
    expect(page.get_by_text("You have nothing to do now.")).to_be_visible()

    boss = meet("max", viewport=PHONE).page
    boss.goto(f"/admin/applications?kind=late_add&term={term.id}")
    boss.get_by_role("link", name=re.compile("Decide")).first.click()
    with boss.expect_download() as download:
        boss.get_by_role("link", name="letter.pdf").click()
    assert download.value.suggested_filename.endswith(".pdf")
    boss.get_by_label("Reason").fill("Welcome.")
    boss.get_by_role("button", name="Approve").click()
    expect(boss.get_by_text("Approved: Late add")).to_be_visible()

    if not scripts:
        page.reload()
    expect(page.get_by_text("Approved and carried out")).to_be_visible()
    registrations = backend().ledger.registrations(term.id, student.id)
    assert [each.section for each in registrations.enrolled] == [over.id]
