"""An adviser clears a student to register, who sees it on an open page and by mail."""

import re

from playwright.sync_api import expect

from e2e import variants
from e2e.axe import barriers
from e2e.contrast import NARROW
from e2e.person import Meet
from e2e.sizes import too_wide
from portal.catalog.models import Section, Term
from tests import cast as builders


@variants.scripts("scripts")
def test_an_adviser_clears_a_student(
    meet: Meet, term: Term, section: Section, *, scripts: bool
) -> None:
    builders.an_open_window(term)
    name = f"adviser{term.id}"
    builders.an_account(name, email=f"{name}@u.example", staff_roles=["adviser"])
    advisee = builders.a_student(f"advisee{term.id}")

    boss = meet("max").page
    boss.goto(f"/admin/students/{advisee.id}/adviser")
    boss.get_by_label("Username of the adviser").fill(name)
    boss.get_by_label("Reason").fill("First year.")
    boss.get_by_role("button", name="Save adviser").click()
    expect(boss.get_by_role("link", name=name.title())).to_be_visible()
    boss.goto(f"/admin/students/{advisee.id}/holds/new")
    boss.get_by_label("Kind").fill("Advising")
    boss.get_by_label("Message to the student").fill(
        "A talk with your adviser is due before you register."
    )
    boss.get_by_label("It waits for the clearance of the student’s adviser").check()
    boss.get_by_role("button", name="Add hold").click()
    expect(boss.get_by_text("waits for the adviser")).to_be_visible()

    student = meet(f"advisee{term.id}")
    student.go(f"/terms/{term.id}")
    told = student.page.locator("#attention")
    expect(told).to_contain_text(f"Talk to your adviser, {name.title()} ({name}@u.example)")
    student.go(f"/terms/{term.id}/sections/{section.id}/pick")
    expect(student.page.locator("main")).to_contain_text("You can’t register yet")
    student.go(f"/terms/{term.id}")

    page = meet(name, viewport=NARROW, java_script_enabled=scripts).page
    page.goto("/admin/students")
    expect(page.locator("main tbody tr")).to_have_count(1)
    page.get_by_role("link", name=f"Advisee{term.id}").press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Advisee{term.id}")
    if scripts:
        assert not too_wide(page)
        assert barriers(page) == []
    page.get_by_role("link", name=re.compile("Give clearance")).press("Enter")
    page.get_by_label("Reason").fill("We talked.")
    page.get_by_role("button", name="Give clearance").press("Enter")
    expect(page.get_by_text(re.compile(f"cleared by {name.title()}"))).to_be_visible()
    expect(told).to_be_hidden()
    student.go("/inbox")
    expect(student.page.locator("main")).to_contain_text("You can register now")

    student.enter(term)
    page.get_by_role("link", name=re.compile("Take back")).click()
    page.get_by_label("Reason").fill("The plan has changed.")
    page.get_by_role("button", name="Take back clearance").click()
    expect(page.get_by_text("waits for the adviser")).to_be_visible()
    expect(told).to_contain_text("You can’t register yet")
