"""Rules that need more than a free seat: the instructor's consent, and a minimum grade."""

import re

from playwright.sync_api import expect

from e2e import variants
from e2e.person import Meet
from portal.catalog.models import Course, Term
from portal.people.models import CompletedCourse
from tests import cast as builders
from tests.cast import Cast


def test_consent_is_asked_for_given_and_used(
    meet: Meet, course: Course, term: Term, cast: Cast
) -> None:
    builders.an_open_window(term)
    section = builders.a_section(course, term, instructor=cast.iris, consent=True)
    ada, iris = meet("ada").enter(term), meet("iris")
    ada.go(f"/terms/{term.id}")
    row = ada.page.locator(f"#section-{section.id}")
    expect(row).to_contain_text("Instructor must agree")
    row.get_by_role("link", name="Request consent").press("Enter")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_label("Why do you want to take this class?").fill("I draw every day.")
    ada.page.get_by_role("button", name="Continue").click()
    ada.page.get_by_role("button", name="Send").click()
    expect(ada.page.get_by_text("You have nothing to do now.")).to_be_visible()

    iris.go(f"/teaching/sections/{section.id}")
    iris.page.get_by_role("link", name="Requests for consent").click()
    iris.page.get_by_role("link", name=re.compile("Decide")).first.click()
    expect(iris.page.get_by_text("I draw every day.")).to_be_visible()
    iris.page.get_by_label("Reason").fill("Your drawings are good.")
    iris.page.get_by_role("button", name="Approve").click()
    expect(iris.page.get_by_text("Approved: Instructor’s consent")).to_be_visible()

    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    add = ada.page.get_by_role("button", name="Add class")
    ada.asks_until(add)  # a node reads the new permission within two seconds
    add.click()
    expect(ada.page.get_by_text("You added").first).to_be_visible()
    iris.go(f"/teaching/sections/{section.id}")
    expect(iris.page.get_by_text("Has a seat")).to_be_visible()


@variants.scripts("scripts")
def test_a_minimum_grade_bars_one_student_and_lets_another_in(
    meet: Meet, course: Course, term: Term, *, scripts: bool
) -> None:
    builders.an_open_window(term)
    section = builders.a_section(course, term, prerequisites={"course": "MAT-1010", "grade": "C"})
    people = {}
    for name, grade in (("dora", "D+"), ("carl", "C")):
        student = builders.a_student(f"{name}{term.id}")
        done = {"student_id": student.id, "course_code": "MAT-1010", "credits": 4}
        builders.added(CompletedCourse(**done, grade=grade))
        people[name] = meet(f"{name}{term.id}", java_script_enabled=scripts)
    dora, carl = people["dora"], people["carl"]
    dora.go(f"/terms/{term.id}")
    expect(dora.row(section)).to_contain_text("MAT 1010 with C or better")
    dora.cell(section).get_by_role("link").first.click()
    told = (dora.dialog if scripts else dora.page.locator("main")).first
    expect(told).to_contain_text(
        "Requires MAT 1010 with C or better. Your grade in MAT 1010 is D+."
    )
    expect(told.get_by_role("button", name="Add class")).to_have_count(0)
    carl.go(f"/terms/{term.id}")
    carl.cell(section).get_by_role("link").first.click()
    carl.page.get_by_role("button", name="Add class").click()
    if scripts:
        carl.has(section, "selected")
    else:
        expect(carl.mine).to_contain_text(section.title)
