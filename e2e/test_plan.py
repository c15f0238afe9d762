"""A plan is made in the lobby, and one press submits all of it."""

import re

from playwright.sync_api import Locator, expect

from e2e import variants
from e2e.contrast import places
from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.plans import ASLEEP, AWAKE, lines, outcomes, plan
from e2e.portal import Running
from e2e.test_lobby import banner_is
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Meets

EARLY = (Meets("MR", "10:00", "11:50"),)
LATE = (Meets("TF", "18:00", "19:50"),)
DOWN = re.compile("^Move CSC .* down$")


@variants.screens("phone")
def test_a_plan_made_in_the_lobby_is_submitted_by_one_press_at_zero(  # noqa: PLR0917
    meet: Meet,
    portal: Running,
    term: Term,
    section: Section,
    others: list[Section],
    screen: dict[str, int],
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    for each in (section, *others):
        plan(ada, each)
    expect(lines(ada)).to_have_count(3)
    banner_is(ada, "before")
    expect(ada.page.locator(AWAKE)).to_be_hidden()
    row = f"#section-{section.id}"
    before = places(ada.page, ASLEEP, row)
    assert 0 <= before[0][1] < screen["height"]  # in reach without scrolling
    builders.open_soon(term, window)
    banner_is(ada, "open", seconds=40)
    expect(ada.page.locator(ASLEEP)).to_be_hidden()
    assert places(ada.page, AWAKE, row) == before
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled"] * 3
    expect(ada.dialog).to_contain_text("3 added")
    for each in (section, *others):
        ada.has(each, "selected")
    expect(lines(ada)).to_have_count(0)
    expect(ada.page.locator("#mine .mine-item")).to_have_count(3)
    ada.dialog.get_by_role("link", name="Back to the sections").click()
    expect(ada.dialog).to_be_hidden()
    portal.audit(term.name)


def test_who_loses_the_last_seat_has_the_fallback_by_the_same_press(
    meet: Meet, portal: Running, term: Term, last_seat: Section, others: list[Section]
) -> None:
    builders.an_open_window(term)
    ada, ben = (meet(name).enter(term) for name in ("ada", "ben"))
    for person in (ada, ben):
        plan(person, last_seat)
        plan(person, others[0], "else-0")
        expect(lines(person).locator(".plan-option")).to_have_count(2)
    for person in (ada, ben):
        person.page.locator(AWAKE).click()
        assert outcomes(person) == ["enrolled"]
    ada.has(last_seat, "selected")
    ben.has(others[0], "selected")
    ben.has(last_seat, "")
    expect(ben.dialog).to_contain_text("This is backup 1: your first choice was refused.")
    expect(ben.dialog).to_contain_text("Why you didn’t get CSC")
    expect(ben.dialog.locator(".receipt-code").first).to_be_visible()
    expect(ben.seats(last_seat)).to_contain_text("0 of 1")
    portal.audit(term.name)


def test_a_refused_choice_whose_backup_was_enrolled_offers_no_swap_that_would_be_refused(
    meet: Meet, term: Term
) -> None:
    builders.an_open_window(term)
    art = a_course("ART")
    early, late = (builders.a_section(art, term, meetings=each) for each in (EARLY, LATE))
    held = builders.a_section(a_course("MUS"), term, meetings=(Meets("MR", "10:30", "11:30"),))
    ada = meet("ada").enter(term)
    ada.pick(held)
    plan(ada, early)
    plan(ada, late, "else-0")
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled"]
    expect(ada.dialog).to_contain_text("Why you didn’t get ART")
    expect(ada.dialog.locator(".plan-results a", has_text="Swap")).to_have_count(0)


def test_a_double_press_counts_once(
    meet: Meet, portal: Running, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    plan(ada, section)
    sent: list[str] = []
    ada.page.on("request", lambda request: sent.append(request.url))
    ada.page.locator(AWAKE).evaluate("it => { it.click(); it.click(); }")
    assert outcomes(ada) == ["enrolled"]
    assert sum(url.endswith("/plan/submit") for url in sent) == 1
    expect(ada.seats(section)).to_contain_text("19 of 20")
    portal.audit(term.name)


def test_the_answer_comes_again_when_the_page_is_loaded_again(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}/sections/{section.id}/plan")
    ada.page.get_by_role("button", name="Add to plan").click()
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled"]
    ada.page.reload()
    assert outcomes(ada) == ["enrolled"]
    expect(ada.page.locator(".plan-result")).to_contain_text("when you first sent it")


def test_without_javascript_a_plan_is_made_changed_and_submitted(
    meet: Meet, portal: Running, term: Term, section: Section, others: list[Section]
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada", java_script_enabled=False)
    for each in (section, others[0]):
        ada.go(f"/terms/{term.id}")
        ada.row(each).locator(".row-plan").click()
        expect(ada.row(each).locator(".row-plan")).to_have_attribute("aria-pressed", "true")
    ada.page.get_by_role("link", name="Open plan").click()
    first = lines(ada).first
    expect(first).to_contain_text("CSC")
    first.get_by_role("button", name=DOWN).click()
    expect(first).to_contain_text("MAT")
    builders.open_soon(term, window)
    ada.asks_until(ada.page.locator(AWAKE), 40)
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled", "enrolled"]
    ada.page.get_by_role("link", name="See my classes").click()
    expect(ada.mine).to_contain_text("MAT")
    portal.audit(term.name)


def test_by_keyboard_alone_and_the_focus_stays_where_it_waits(
    meet: Meet, term: Term, section: Section, others: list[Section]
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada").enter(term)
    for each in (section, others[0]):
        ada.row(each).locator(".row-plan").focus()
        ada.page.keyboard.press("Enter")
        expect(ada.row(each).locator(".row-plan")).to_have_attribute("aria-pressed", "true")
        expect(ada.row(each).locator(".row-plan")).to_be_focused()
    ada.go(f"/terms/{term.id}/plan")
    ada.page.get_by_role("checkbox", name="Change order").press("Space")
    press_until(ada, lines(ada).first.get_by_role("button", name=DOWN))
    expect(lines(ada).first).to_contain_text("MAT")
    expect(ada.page.get_by_role("button", name=DOWN)).to_be_focused()
    ada.page.locator(ASLEEP).focus()
    builders.open_soon(term, window)
    banner_is(ada, "open", seconds=40)
    expect(ada.page.locator(AWAKE)).to_be_focused()
    ada.page.keyboard.press("Enter")
    assert outcomes(ada) == ["enrolled", "enrolled"]
    expect(ada.dialog.get_by_role("heading", name="Your plan: 2 added")).to_be_focused()
    ada.page.keyboard.press("Escape")
    expect(ada.page.locator("#plan :focus")).to_have_count(1)


@variants.screens("phone")
def test_a_next_step_in_my_plan_opens_the_dialog_and_so_does_every_later_one(
    meet: Meet, term: Term, course: Course, screen: dict[str, int]
) -> None:
    held, wanted = (builders.a_section(course, term, meetings=each) for each in (EARLY, LATE))
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    ada.pick(held)
    plan(ada, wanted)
    ada.listen(f"/terms/{term.id}/plan")
    lines(ada).get_by_role("link", name="Swap").click()
    expect(ada.dialog).to_contain_text("You drop")
    ada.page.keyboard.press("Escape")
    expect(ada.dialog).to_be_hidden()
    ada.mine.get_by_role("link", name="Drop").click()
    expect(ada.dialog).to_contain_text("You lose your seat immediately")
    ada.page.keyboard.press("Escape")
    lines(ada).get_by_role("link", name="Swap").click()
    ada.confirm()
    expect(ada.mine).to_contain_text("6:00")


def press_until(person: Person, wanted: Locator) -> None:
    """Tab on until it has the focus, and press it."""
    for _ in range(40):
        if wanted.evaluate("it => it === document.activeElement"):
            break
        person.page.keyboard.press("Tab")
    expect(wanted).to_be_focused()
    person.page.keyboard.press("Enter")
