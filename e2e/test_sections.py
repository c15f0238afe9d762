"""Admins change sections while those whom it concerns look at them."""

import re

from playwright.sync_api import expect

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders

# The second admin is answered that the version has moved, and the browser says so.
CONFLICT = re.compile(r"Failed to load resource: .* status of 409")


def edit(boss: Person, section: Section, **fields: str) -> None:
    """Open the form and fill some of its fields in."""
    boss.go(f"/admin/terms/{section.term_id}/sections/{section.id}")
    boss.page.locator("main").get_by_role("link", name="Edit").click()
    for name, value in fields.items():
        boss.page.locator(f"#{name}").fill(value)


def look_over(boss: Person) -> None:
    """Send the form, to see what it will mean."""
    boss.page.locator("#capacity").press("Enter")


def change(boss: Person) -> None:
    """Confirm it."""
    boss.page.get_by_role("button", name="Save changes").click()
    expect(boss.page.locator(".toast")).to_contain_text("Changed: ")


def test_raised_seats_reach_a_waiting_student_on_screen(
    meet: Meet, portal: Running, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben, boss = meet("ada").enter(term), meet("ben").enter(term), meet("max")
    ada.pick(last_seat)
    ben.pick(last_seat)
    ben.has(last_seat, "waiting")
    edit(boss, last_seat, capacity="3", number="77")
    look_over(boss)
    expect(boss.page.locator("main")).to_contain_text(
        "The first student on the waitlist gets a seat"
    )
    change(boss)
    ben.has(last_seat, "selected")
    expect(ben.page.locator(f'.toast[data-about="{last_seat.id}"]')).to_contain_text("seat")
    for person in (ada, ben):
        expect(person.seats(last_seat)).to_contain_text("1 of 3 open")
    expect(boss.page.locator(f"#seats-{last_seat.id}")).to_contain_text("2 of 3 enrolled")
    ada.asks_until(ada.row(last_seat).locator(".row-code", has_text="-77"))
    portal.audit()


def test_the_ways_to_a_sections_students_say_what_they_lead_to(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    boss, here = meet("max"), f"/admin/terms/{term.id}/sections/{section.id}"
    boss.go(here)
    boss.page.get_by_role("link", name="Manage students").click()
    expect(boss.page.get_by_role("link", name="Add a student")).to_be_visible()
    boss.go(here)
    boss.page.get_by_role("link", name="Instructor’s roster").click()
    expect(boss.page.get_by_role("link", name="Email addresses")).to_be_visible()


def test_two_admins_edit_one_section_and_neither_overwrites_the_other(
    meet: Meet, section: Section
) -> None:
    builders.an_account(f"mona{section.id}", is_admin=True)
    boss, mona = meet("max"), meet(f"mona{section.id}", proven=False)
    boss.expected = mona.expected = CONFLICT
    edit(boss, section, capacity="25", title="Of the first")
    edit(mona, section, capacity="30", note="Of the second.")
    look_over(mona)
    change(mona)
    look_over(boss)
    told = boss.page.locator("#conflict")
    expect(told).to_contain_text("Someone else has changed this section")
    expect(told.locator("tr", has_text="Seats")).to_contain_text("25")
    expect(told.locator("tr", has_text="Note")).to_contain_text("Of the second.")
    expect(boss.page.locator("#capacity")).to_have_value("25")
    expect(boss.page.locator("#title")).to_have_value("Of the first")
    boss.page.locator("#note").fill("Of the second.")
    look_over(boss)
    boss.page.locator("#reason").fill("As agreed with Mona.")
    change(boss)
    main = boss.page.locator("main")
    for each in ("25", "Of the first", "Of the second.", "As agreed with Mona."):
        expect(main).to_contain_text(each)


def test_a_student_sees_the_section_canceled(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben, boss = meet("ada").enter(term), meet("ben").enter(term), meet("max")
    ada.pick(section)
    boss.go(f"/admin/terms/{term.id}/sections/{section.id}")
    boss.page.get_by_role("link", name="Cancel section").click()
    expect(boss.dialog).to_contain_text("1 student is enrolled.")
    boss.dialog.locator("button[type=submit]").click()
    expect(boss.dialog.locator(".errors")).to_contain_text("Enter a reason")
    boss.dialog.locator("#reason").fill("Nobody can teach it.")
    boss.dialog.locator("button[type=submit]").click()
    expect(boss.page.locator(".toast")).to_contain_text("Canceled: ")
    expect(ada.page.locator("#toasts")).to_contain_text("canceled")
    for person in (ada, ben):
        expect(person.seats(section)).to_contain_text("Canceled")
    expect(ada.mine).not_to_contain_text(section.title)
    portal.audit()


def test_a_kept_seat_is_a_seniors_until_the_admin_opens_the_rest(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    builders.a_student(f"sena{section.id}", year="Senior")
    boss = meet("max")
    edit(boss, section, capacity="2")
    boss.page.get_by_role("button", name="Reserve seats for a cohort").click()
    boss.page.locator("#reserves_0_seats").fill("2")
    boss.page.locator("#reserves_0_years label", has_text="Senior").click()
    look_over(boss)
    boss.page.locator("#reason").fill("Seniors graduate.")
    change(boss)
    ada, senior = meet("ada").enter(term), meet(f"sena{section.id}", proven=False).enter(term)
    expect(ada.row(section)).to_contain_text(
        "2 seats are reserved for students of class year Senior."
    )
    expect(ada.cell(section)).to_contain_text("Join waitlist", use_inner_text=True)
    expect(senior.row(section)).to_contain_text("reserved for you and others")
    expect(senior.cell(section)).to_contain_text("Add", use_inner_text=True)
    senior.pick(section)
    senior.has(section, "selected")
    expect(ada.seats(section)).to_contain_text("1 reserved")
    ada.pick(section)
    ada.has(section, "waiting")
    edit(boss, section)
    boss.page.get_by_label("Remove these reserved seats").check()
    look_over(boss)
    boss.page.locator("#reason").fill("Enough of them came.")
    change(boss)
    ada.has(section, "selected")
    portal.audit()
