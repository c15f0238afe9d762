"""A registrar sets waitlist groups, a position moves back on an open page, a report says so."""

from playwright.sync_api import expect

from e2e.person import Meet
from portal.backend import backend
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim


def test_a_senior_joins_before_a_student_who_watches(
    meet: Meet, last_seat: Section, term: Term, cast: Cast
) -> None:
    senior = f"eve{term.id}"
    builders.a_student(senior, year="Senior")
    window = builders.an_open_window(term)
    claim(cast.cleo, last_seat)
    boss = meet("max")
    boss.go(f"/admin/terms/{term.id}/rules")
    boss.page.get_by_role("link", name="Change the order of waitlists").click()
    boss.page.get_by_label("Waitlist groups").fill("year: Senior")
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_label("Reason").fill("Seniors have no other chance.")
    boss.page.get_by_role("button", name="Save groups").click()
    expect(boss.page.get_by_text("saved")).to_be_visible()

    ada, eve = meet("ada").enter(term), meet(senior).enter(term)
    for student, band in ((ada, 2), (eve, 1)):
        student.go(f"/terms/{term.id}/sections/{last_seat.id}/pick")
        expect(student.page.get_by_text(f"You are in group {band} of 2.")).to_be_visible()
        expect(student.page.get_by_text("You would be number 1")).to_be_visible()
        student.page.get_by_role("button", name="Join waitlist").press("Enter")
        expect(student.page.get_by_text("You are on the waitlist").first).to_be_visible()
        if student is ada:
            ada.go(f"/terms/{term.id}/mine")
            expect(ada.page.locator(f"#place-{last_seat.id}")).to_have_text("Position 1 of 1")
    expect(ada.page.locator(f"#place-{last_seat.id}")).to_have_text("Position 2 of 2")
    # The page has said why it can happen.
    moved = "Your position moves back when someone in an earlier group joins."
    expect(ada.page.locator("#mine").get_by_text(moved)).to_be_visible()

    cleo = meet("cleo").enter(term)
    cleo.ask(last_seat)
    cleo.confirm()
    eve.go(f"/terms/{term.id}/mine")
    eve.asks_until(eve.page.locator("[data-state=selected]"))
    backend().ledger.close_window(term.id, window.id, "tests")
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/fairness")
    groups = boss.page.get_by_role("region", name="By waitlist group")
    boss.asks_until(groups)
    expect(groups).to_contain_text("who would have got it if waitlists were first come")
    expect(groups.get_by_role("row", name="1")).to_contain_text("hidden (small group)")
