"""The registrar acts by hand while the student looks on."""

import re

from playwright.sync_api import expect

from e2e.courses import a_course, name_of
from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.people import caches
from portal.people.models import Student
from portal.recorder import receipts
from tests import cast as builders
from tests.cast import Cast, Meets
from tests.ledger_claims import claim

WHY = "Agreed with the dean."


def open_record(boss: Person, student: Student, term: Term) -> None:
    """To the student's page, by the search, and there to the term."""
    boss.go("/admin/students")
    boss.page.locator("#q").fill(student.number)
    boss.page.locator("#q").press("Enter")
    expect(boss.page.locator("main .row-code").first).to_have_text(student.number)
    boss.go(f"/admin/students/{student.id}?term={term.id}")


def test_a_student_is_added_over_capacity_and_sees_it_at_once(
    meet: Meet, portal: Running, term: Term, last_seat: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada, ben, boss = meet("ada").enter(term), meet("ben").enter(term), meet("max")
    ada.pick(last_seat)
    ben.pick(last_seat)
    ben.has(last_seat, "waiting")
    watcher = meet("max").listen(f"/admin/terms/{term.id}/sections/{last_seat.id}")
    over = watcher.seats(last_seat).locator(".seats-over")
    expect(over).to_have_count(0)
    open_record(boss, cast.ben, term)
    boss.page.get_by_role("link", name="Enroll").click()
    main = boss.page.locator("main")
    expect(main).to_contain_text("1 of 1 seats are taken.")
    main.locator("#reason").fill(WHY)
    main.locator("button[type=submit]").click()
    expect(main.locator(".errors")).to_contain_text("A rule still prevents this")
    ben.has(last_seat, "waiting")
    main.locator('input[name="over"][value="full"]').check()
    main.locator("button[type=submit]").click()
    expect(boss.page.locator(".toast")).to_contain_text("was enrolled in")
    ben.has(last_seat, "selected")
    expect(ben.page.locator("#toasts")).to_contain_text("The registrar gave you a seat")
    ada.has(last_seat, "selected")
    expect(over).to_have_text("Over-enrolled by 1")
    expect(over).to_be_visible()
    expect(ben.seats(last_seat).locator(".seats-over")).to_be_hidden()
    expect(watcher.page.locator("#as-is")).to_contain_text(
        "2 taken + 0 free + 0 reserved = 1 seat + 1 over capacity"
    )
    record = boss.page.locator("#record")
    expect(record).to_contain_text("Enrolled")
    ben.cell(last_seat).locator(".act-drop").click()
    ben.confirm()
    expect(record).to_contain_text("No classes yet.")
    expect(over).to_have_count(0)
    expect(watcher.page.locator("#as-is")).to_contain_text("1 taken + 0 free + 0 reserved = 1 seat")
    portal.audit()


def test_a_hold_bars_the_student_until_it_is_lifted(
    meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada, boss = meet("ada"), meet("max")
    ada.go(f"/terms/{term.id}/sections/{section.id}/pick")
    open_record(boss, cast.ada, term)
    boss.page.get_by_role("link", name="Add a hold").click()
    for name, text in (("kind", "Bursar"), ("message", "a bill is unpaid")):
        boss.dialog.locator(f"#{name}").fill(text)
    boss.dialog.locator("button[type=submit]").click()
    expect(boss.page.locator(".toast")).to_contain_text("Hold placed on")
    barred, pick = "There is a hold on your record: a bill is unpaid.", ada.page.url
    told = ada.page.locator("main").get_by_text(barred)
    _until_known(ada)
    ada.page.locator("main button[type=submit]").click()
    expect(told).to_be_visible()
    boss.page.get_by_role("link", name="Lift a bill is unpaid").click()
    boss.dialog.locator("#reason").fill("It was paid.")
    boss.dialog.locator("button[type=submit]").click()
    expect(boss.page.locator(".toast")).to_contain_text("lifted")
    _until_known(ada)
    ada.go(pick)
    ada.page.locator("main button[type=submit]").click()
    ada.has(section, "selected")


def _until_known(person: Person) -> None:
    """Wait until every process of the portal reads the records again."""
    person.page.wait_for_timeout(caches.FRESH_SECONDS * 1000)


def test_the_box_on_every_page_finds_a_student_on_a_phone_without_javascript(
    meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    assert section
    boss = meet("max", viewport={"width": 390, "height": 800}, java_script_enabled=False)
    boss.go(f"/admin/terms/{term.id}/rooms")
    boss.page.get_by_role("button", name="Menu").click()
    box = boss.page.get_by_role("search", name="Search everything").get_by_role("searchbox")
    box.fill(cast.ben.number)
    box.press("Enter")
    expect(boss.page.locator("main .row-code").first).to_have_text(cast.ben.number)


def test_several_sections_get_seats_and_students_see_it_until_it_is_undone(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    builders.an_open_window(term)
    boss, ada = meet("max"), meet("ada").enter(term)
    boss.go(f"/admin/terms/{term.id}/sections")
    boss.page.get_by_role("link", name="Change several").click()
    main = boss.page.locator("main")
    for each in (section, last_seat):
        main.locator(f"[name=section][value='{each.id}']").check()
    main.get_by_label("What to change").select_option(label="Add or remove seats")
    main.get_by_label("Number").fill("3")
    main.get_by_role("button", name="Review the changes").click()
    expect(main).to_contain_text("Change 2 sections?")
    main.locator("#reason").fill(WHY)
    main.get_by_role("button", name="Change all 2 sections").click()
    expect(main.locator("h1")).to_have_text("2 sections are changed")
    expect(ada.seats(last_seat)).to_contain_text("4")
    expect(ada.seats(section)).to_contain_text("23")
    main.get_by_role("link", name="Change other sections").click()
    main.get_by_role("button", name="Undo").first.click()
    expect(main.locator("h1")).to_have_text("Undo the change of 2 sections?")
    main.locator("#reason").fill(WHY)
    main.get_by_role("button", name="Undo the change").click()
    expect(main.locator("h1")).to_have_text("The change of 2 sections is undone")
    expect(ada.seats(section)).to_contain_text("20")


def test_a_room_is_measured_shows_who_is_in_it_twice_and_is_found_from_everywhere(
    meet: Meet, term: Term, cast: Cast
) -> None:
    hall, one, two = f"Hall {term.id}", a_course("AAA"), a_course("BBB")
    builders.an_open_window(term)
    times = (Meets("MR", "10:00", "11:50", room=hall),)
    found = [
        builders.a_section(course, term, capacity=seats, meetings=times)
        for course, seats in ((one, 20), (two, 60))
    ]
    code = receipts.code(term.id, claim(cast.dan, found[0]).seq)
    boss = meet("max")
    main, box = boss.page.locator("main"), boss.page.get_by_role("search", name="Search everything")

    def look_for(text: str) -> None:
        box.get_by_role("searchbox").fill(text)
        box.get_by_role("searchbox").press("Enter")

    boss.go("/admin")
    look_for(hall)
    main.get_by_role("link", name=hall).click()
    expect(main.locator("h1")).to_have_text(hall)
    # The search opens the latest term, and other stories have made later ones.
    boss.go(re.sub(r"/terms/\d+/", f"/terms/{term.id}/", boss.page.url))
    expect(main).to_contain_text(f"At the same time as {name_of(found[0])}")
    boss.page.get_by_role("link", name="Change seats").click()
    boss.dialog.get_by_label("Seats").fill("40")
    boss.dialog.get_by_label("Reason").fill(WHY)
    boss.dialog.get_by_role("button", name="Save").click()
    expect(main.get_by_role("row", name=two.code)).to_contain_text("More seats than the room")
    expect(main.get_by_role("row", name=one.code)).not_to_contain_text("More seats than the room")
    look_for(found[1].title)
    main.get_by_role("link", name=found[1].title).first.click()
    expect(main.locator("h1")).to_contain_text(found[1].title)
    look_for(code)
    boss.asks_until(main.get_by_text("Dan").first)  # once it is recorded
    boss.go(f"/admin/terms/{term.id}/rooms?problems=1")
    row = main.get_by_role("row", name=hall)
    expect(row).to_contain_text("1 double booking")
    expect(row).to_contain_text("1 section too large")


def test_rooms_instructors_and_status_of_several_sections_change_and_come_back(
    meet: Meet, term: Term, cast: Cast
) -> None:
    builders.an_open_window(term)
    hall = f"Hall {term.id}"
    times = (Meets("MR", "10:00", "11:50", room=hall),)
    sections = [builders.a_section(a_course(code), term, meetings=times) for code in ("CCC", "DDD")]
    boss, ada = meet("max"), meet("ada")
    main = boss.page.locator("main")
    row = ada.row(sections[0])
    for change, field, value, warning, shown in (
        ("room of all meetings", "Room", f"Aula {term.id}", "is taken by", f"Aula {term.id}"),
        ("Add an instructor", "Instructor", cast.otto.name, "", cast.otto.name),
        ("Confirm", "", "", "", "Confirmed"),
    ):
        boss.go(f"/admin/terms/{term.id}/sections/several")
        main.get_by_label("All 2 sections of the list").check()
        choices = main.get_by_label("What to change")
        wanted = choices.locator("option", has_text=re.compile(change, re.IGNORECASE)).first
        choices.select_option(wanted.get_attribute("value"))
        if field:
            main.get_by_label(field, exact=True).fill(value)
        main.get_by_role("button", name="Review the changes").click()
        expect(main).to_contain_text("2 sections?")
        expect(main).to_contain_text(warning)
        main.locator("#reason").fill(WHY)
        main.get_by_role("button", name="all 2 sections").click()
        expect(main.locator("h1")).to_contain_text("2 sections")
        if field:
            ada.go(f"/terms/{term.id}/sections/{sections[0].id}")
            ada.asks_until(ada.page.locator("main").get_by_text(shown).first)
        else:
            ada.go(f"/terms/{term.id}")
            while row.count():  # a confirmed section takes no more students
                ada.go(f"/terms/{term.id}")
        main.get_by_role("button", name="Undo").first.click()
        main.locator("#reason").fill(WHY)
        main.get_by_role("button", name="Undo the change").click()
        expect(main.locator("h1")).to_contain_text("2 sections")
    ada.asks_until(row)
    boss.go(f"/admin/terms/{term.id}/sections/{sections[0].id}")
    expect(main).to_contain_text(hall)
    expect(main).to_contain_text(f"Instructors: {cast.otto.name} → –")
