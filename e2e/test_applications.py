"""A student who missed the window applies on a phone, with and without JavaScript."""

import re
from pathlib import Path

from playwright.sync_api import expect

from e2e import variants
from e2e.applying import (
    add_document,
    address_of_decision,
    begin_late_add,
    decide,
    end_the_window,
    sees,
    send,
)
from e2e.contrast import NARROW
from e2e.courses import name_of
from e2e.person import Meet
from e2e.sizes import too_wide
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.applications.files import a_pdf


@variants.scripts("scripts")
def test_a_late_add_on_a_phone(
    meet: Meet, term: Term, section: Section, tmp_path: Path, *, scripts: bool
) -> None:
    student = builders.a_student(f"late{term.id}")
    end_the_window(term)
    letter = tmp_path / "letter.pdf"
    letter.write_bytes(a_pdf())
    person = meet(f"late{term.id}", viewport=NARROW, java_script_enabled=scripts)
    page = person.page
    person.go(f"/terms/{term.id}")
    expect(person.cell(section).get_by_role("link")).to_have_count(0)  # it is too late to register
    begin_late_add(person, term, section)
    add_document(person, letter)
    if scripts:
        assert not too_wide(page)
    send(person)

    boss = meet("max", viewport=NARROW).page
    boss.goto(f"/admin/applications?kind=late_add&term={term.id}")
    boss.get_by_role("link", name=re.compile("Decide")).first.click()
    with boss.expect_download() as download:
        boss.get_by_role("link", name="letter.pdf").click()
    assert download.value.suggested_filename.endswith(".pdf")
    boss.get_by_label("Reason").fill("Welcome.")
    boss.get_by_role("button", name="Approve").click()
    expect(boss.get_by_text("Approved: Late add")).to_be_visible()

    sees(person, page.get_by_text("Approved and carried out"), scripts=scripts)
    registrations = backend().ledger.registrations(term.id, student.id)
    assert [each.section for each in registrations.enrolled] == [section.id]
    person.go(f"/terms/{term.id}/schedule")
    expect(page.get_by_role("row", name=name_of(section))).to_be_visible()


@variants.scripts("no scripts")
def test_an_applicant_answers_what_a_decider_asks(
    meet: Meet, term: Term, section: Section, tmp_path: Path, *, scripts: bool
) -> None:
    builders.a_student(f"more{term.id}")
    end_the_window(term)
    letter = tmp_path / "doctor.pdf"
    letter.write_bytes(a_pdf())
    person = meet(f"more{term.id}", viewport=NARROW, java_script_enabled=scripts)
    page = person.page
    begin_late_add(person, term, section)
    send(person)
    here, address = page.url, address_of_decision(page)

    boss = meet("max").page
    decide(boss, address, "Ask for more", "Were you ill? Send a letter.")
    sees(person, page.get_by_text("Were you ill? Send a letter.").first, scripts=scripts)
    page.get_by_role("link", name="Continue the form").click()
    page.get_by_role("link", name="Change : How will you catch up").click()
    page.get_by_label("How will you catch up").fill("I copy the notes of a friend.")
    page.get_by_role("button", name="Save and continue").click()
    add_document(person, letter)
    send(person)

    boss.goto(address)
    expect(boss.get_by_text("I copy the notes of a friend.")).to_be_visible()
    expect(boss.get_by_role("img", name="Page 1 of 1")).to_be_visible()
    decide(boss, address, "Approve", "Get well.")
    page.goto(here)
    sees(person, page.get_by_text("Approved and carried out").first, scripts=scripts)
