"""A registrar sets bands, and a position moves back on the open page of a student who waits."""

from playwright.sync_api import expect
from sqlalchemy import update

from e2e.person import Meet
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.people import caches
from portal.people.models import Student
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim


def test_a_senior_joins_before_a_student_who_watches(meet: Meet, term: Term, cast: Cast) -> None:
    builders.an_open_window(term)
    section = builders.a_section(builders.a_course("ART-1"), term, capacity=1)
    with transaction() as session:
        session.execute(update(Student).where(Student.id == cast.ben.id).values(year="Senior"))
    caches.apply_changes(None)
    claim(cast.cleo, section)
    boss, ada, ben = meet("max"), meet("ada").enter(term), meet("ben").enter(term)
    boss.go(f"/admin/terms/{term.id}/rules")
    boss.page.get_by_role("link", name="Change the order of waitlists").click()
    boss.page.get_by_label("Bands").fill("year: Senior")
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("Seniors have no other chance.")
    boss.page.get_by_role("button", name="Save bands").click()
    expect(boss.page.get_by_text("saved")).to_be_visible()

    for student, band in ((ada, 2), (ben, 1)):
        student.go(f"/terms/{term.id}/sections/{section.id}/pick")
        expect(student.page.get_by_text(f"You are in band {band} of 2.")).to_be_visible()
        expect(student.page.get_by_text("You would be number 1")).to_be_visible()
        student.page.get_by_role("button", name="Join waitlist").press("Enter")
        if student is ada:
            ada.go(f"/terms/{term.id}/mine")
            expect(ada.page.locator(f"#place-{section.id}")).to_have_text("Position 1 of 1")
    expect(ada.page.locator(f"#place-{section.id}")).to_have_text("Position 2 of 2")
