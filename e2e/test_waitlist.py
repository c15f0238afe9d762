"""Ada and Ben on screen: places that move, who is passed over, and receipts that agree."""

from playwright.sync_api import Locator, expect

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast, Meets

MORNING = (Meets("MR", "10:00", "11:50"),)


def place(person: Person, section: Section) -> Locator:
    """Where the person stands in line."""
    return person.page.locator(f"#place-{section.id}")


def step_out(person: Person, section: Section) -> None:
    """Give a seat or a place in line up."""
    person.ask(section)
    person.confirm()


def test_a_place_moves_up_before_my_eyes_and_who_joins_again_is_last(
    meet: Meet, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    cleo, ada, ben = (meet(name).enter(term) for name in ("cleo", "ada", "ben"))
    for person in (cleo, ada, ben):
        person.pick(last_seat)
    expect(place(ben, last_seat)).to_have_text("Position 2 of 2")
    step_out(ada, last_seat)
    expect(place(ben, last_seat)).to_have_text("Position 1 of 1")
    ada.pick(last_seat)
    expect(place(ada, last_seat)).to_have_text("Position 2 of 2")
    expect(place(ben, last_seat)).to_have_text("Position 1 of 2")


def test_a_skipped_student_reads_why_takes_the_next_step_and_gets_the_seat(
    meet: Meet, portal: Running, course: Course, term: Term
) -> None:
    wanted = builders.a_section(course, term, capacity=1, meetings=MORNING)
    rival = builders.a_section(
        builders.a_course(f"{course.code}-B"), term, capacity=9, meetings=MORNING
    )
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ada.pick(wanted)
    ben.pick(wanted)
    ben.pick(rival)

    step_out(ada, wanted)
    told = ben.page.locator(f'.toast[data-about="{wanted.id}"]')
    expect(told).to_contain_text("you couldn’t get it")
    expect(told).to_contain_text("meets at the same time")
    expect(ben.mine).to_contain_text("You keep your waitlist position")

    ben.mine.locator('[data-reason="time_conflict"]').get_by_role("link").click()
    expect(ben.dialog).to_be_visible()
    ben.confirm()
    ben.has(wanted, "selected")
    ben.has(rival, "")
    expect(told).to_contain_text("You got a seat")
    portal.audit(term.name)


def test_a_refusal_reads_the_same_to_the_student_and_to_the_registrar(
    meet: Meet, term: Term, last_seat: Section, cast: Cast
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    ben.ask(last_seat)
    ada.pick(last_seat)
    expect(ben.seats(last_seat)).to_contain_text("0 of 1")
    ben.dialog.get_by_role("checkbox").uncheck()
    ben.dialog.locator("button[type=submit]").click()
    code = ben.dialog.locator(".receipt-code").first.inner_text()

    ben.go(f"/receipts/{code}")
    expect(ben.page.locator("main")).to_contain_text("You couldn’t")
    expect(ben.page.locator("main")).to_contain_text("0 of 1 seat open, 0 waiting.")
    assert ada.page.request.get(f"/receipts/{code}").status == 404

    registrar = meet("max")
    registrar.go("/admin/receipts")
    registrar.page.get_by_label("Receipt code").fill(code.lower())
    registrar.page.get_by_role("button", name="Search").click()
    expect(registrar.page.locator("main")).to_contain_text(cast.ben.number)
    assert facts(registrar) == facts(ben)


def facts(person: Person) -> list[str]:
    """What both must be told alike."""
    person.page.wait_for_load_state()
    main = person.page.locator("main")
    times = main.locator("time").all_inner_texts()
    reasons = main.locator("[data-reason]").all_inner_texts()
    return [*times, *reasons, main.locator(".slip-text").inner_text()]
