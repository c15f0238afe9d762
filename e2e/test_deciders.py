"""An instructor decides for the department on screen, and an admin decides next."""

import csv
import re
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import update

from e2e import variants
from e2e.applying import address_of_decision, end_the_window, sees, send
from e2e.axe import barriers
from e2e.contrast import NARROW
from e2e.mails import subjects_to
from e2e.person import Meet
from e2e.portal import Running
from e2e.sizes import too_wide
from portal.catalog.models import Course, Instructor, Restriction, Section, Term
from portal.core.db import transaction
from tests import cast as builders
from tests.applications.stories import an_application
from tests.notifications.stories import give_addresses
from tests.recorder.processes import wait_for


def downloaded(page: Page) -> set[str]:
    """The applications in the file of a queue, which is fetched with the keyboard alone."""
    with page.expect_download() as download:
        page.get_by_role("link", name="Download CSV").press("Enter")
    with Path(download.value.path()).open(encoding="utf-8-sig", newline="") as file:
        return {row["Application"] for row in csv.DictReader(file)}


@variants.scripts("no scripts")
def test_the_department_decides_and_then_an_admin(
    meet: Meet, term: Term, course: Course, section: Section, *, scripts: bool
) -> None:
    chair = builders.an_instructor(f"chair{term.id}")
    with transaction() as session:
        changed = update(Instructor).where(Instructor.id == chair.id)
        session.execute(changed.values(department_id=course.department_id))
    end_the_window(term)
    student = builders.a_student(f"overload{term.id}")
    application = an_application("credit_overload", student, section)

    boss = meet("max").page
    boss.goto(f"/admin/instructors/{chair.id}")
    boss.get_by_label("Decides applications for").check()
    boss.get_by_role("button", name="Change").click()
    boss.get_by_label("Reason").fill("Chair of the department.")
    boss.get_by_role("button", name="Let this account decide").click()
    expect(boss.get_by_label("Decides applications for")).to_be_checked()

    page = meet(chair.name.lower(), viewport=NARROW, java_script_enabled=scripts).page
    page.goto("/teaching")
    page.get_by_role("link", name="Applications", exact=True).click()
    row = page.locator(f"#application-{application}")
    expect(row).to_be_visible()
    expect(page.locator("#waiting")).to_contain_text("None decided")
    assert str(application) in downloaded(page)
    if scripts:
        assert not too_wide(page)
        assert barriers(page) == []
    row.get_by_role("link", name=re.compile("Decide")).click()
    page.get_by_label("Reason").fill("Well prepared.")
    if scripts:
        assert not too_wide(page)
    page.get_by_role("button", name="Approve").click()
    expect(page.get_by_text("The registrar decides next.")).to_be_visible()
    expect(row).to_have_count(0)
    expect(page.locator("#waiting")).to_contain_text(re.compile(r"Median .+ \(1 decided\)"))
    assert str(application) not in downloaded(page)

    boss.goto("/admin/applications")
    assert str(application) in downloaded(boss)
    boss.goto(f"/admin/applications/{application}")
    expect(boss.get_by_text("Well prepared.")).to_be_visible()
    boss.get_by_label("Reason").fill("Agreed.")
    boss.get_by_role("button", name="Approve").click()
    expect(boss.get_by_text("Approved: Credit overload")).to_be_visible()


@variants.scripts("scripts")
def test_of_two_rules_one_is_approved_and_the_student_reads_which(
    meet: Meet, portal: Running, term: Term, course: Course, *, scripts: bool
) -> None:
    name = f"pam{term.id}"
    builders.an_open_window(term)
    builders.a_student(name)
    give_addresses()
    section = builders.a_section(course, term, prerequisites={"course": "MAT-0"})
    builders.added(
        Restriction(section_id=section.id, rule="must_be", kind="level", value="Graduate")
    )
    student = meet(name, viewport=NARROW, java_script_enabled=scripts)
    student.go(f"/terms/{term.id}/applications")
    page = student.page
    page.get_by_role("link", name=re.compile("Start.*despite a rule")).click()
    page.get_by_label("Class").fill(section.crn)
    page.get_by_role("button", name="Continue").click()
    for rule in ("Prerequisites", "Restrictions"):
        page.get_by_label(rule).check()
    page.get_by_role("button", name="Save and continue").click()
    page.get_by_label("Why are you ready for this class?").fill("I took it at another school.")
    page.get_by_role("button", name="Save and continue").click()
    send(student)

    boss = meet("max").page
    boss.goto(address_of_decision(page))
    expect(boss.get_by_label("Prerequisites")).to_be_checked()
    boss.get_by_label("Restrictions").uncheck()
    boss.get_by_label("Reason").fill("Your transcript shows it, but you are no graduate.")
    boss.get_by_role("button", name="Approve").click()
    expect(boss.get_by_text("Approved: Permission to register despite a rule")).to_be_visible()

    sees(student, page.get_by_text("In part: Prerequisites"), scripts=scripts)
    expect(page.locator("main")).not_to_contain_text("In part: Prerequisites, Restrictions")
    expect(page.locator("main")).to_contain_text("but you are no graduate.")
    if scripts:
        assert not too_wide(page)
    subject = "is approved in part"
    wait_for(lambda: any(subject in each for each in subjects_to(portal, name)))
    student.go("/inbox")
    expect(page.locator("main")).to_contain_text(
        "These rules no longer apply to you: Prerequisites"
    )
    refused = f"/terms/{term.id}/sections/{section.id}/pick"
    student.go(refused)
    while page.get_by_text("Requires MAT 0").count():  # a node reads it within two seconds
        student.go(refused)
    expect(page.locator("main")).to_contain_text("Graduate")
