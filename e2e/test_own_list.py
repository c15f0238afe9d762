"""A list that knows me: it says what clashes, filters by my week and record, and shows my week."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e import variants
from e2e.contrast import LAPTOP, PHONE, places
from e2e.courses import a_course, name_of
from e2e.person import Meet, Person
from e2e.plans import lines
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Meets

MORNING, NOON = (Meets("MR", "10:00", "11:50"),), (Meets("TF", "12:00", "13:50"),)
DAYS = """them => them.map(it => [
    ...it.closest(".mini-week").querySelectorAll(".mini-week-day > div")
].indexOf(it.parentElement))"""


@pytest.fixture
def mine(course: Course, term: Term) -> Section:
    return builders.a_section(course, term, meetings=MORNING)


@pytest.fixture
def clashing(term: Term) -> Section:
    return builders.a_section(a_course("ART"), term, meetings=MORNING)


@pytest.fixture
def free(term: Term) -> Section:
    return builders.a_section(a_course("BIO"), term, meetings=NOON)


def test_a_row_says_with_what_it_clashes_and_offers_a_swap_for_my_course(
    meet: Meet, term: Term, course: Course, mine: Section, clashing: Section
) -> None:
    other = builders.a_section(course, term, meetings=NOON)
    builders.an_open_window(term)
    ada, tab = meet("ada").enter(term), meet("ada").enter(term)
    ada.pick(mine)
    for person in (ada, tab):  # the other page learns of it by itself
        expect(person.cell(clashing)).to_contain_text(f"Overlaps {name_of(mine)}, Mon 10:00 am")
        expect(person.cell(other).get_by_role("link")).to_contain_text("Swap")
    tab.cell(clashing).get_by_role("link").click()
    expect(tab.dialog).to_contain_text("meets at the same time as your")
    tab.page.keyboard.press("Escape")
    tab.cell(other).get_by_role("link").click()
    expect(tab.dialog).to_contain_text("You drop")


def test_filters_about_me_stay_through_a_refresh_and_the_way_back(
    meet: Meet, term: Term, mine: Section, clashing: Section, free: Section
) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    barred = builders.a_section(a_course("CHE"), term, **needs)
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.pick(mine)
    ada.page.get_by_label("Fits my schedule").check()
    expect(ada.row(clashing)).to_be_hidden()
    expect(ada.row(barred)).to_be_visible()
    ada.page.get_by_label("I meet the requirements").check()
    expect(ada.row(barred)).to_be_hidden()
    expect(ada.row(free)).to_be_visible()
    ada.page.reload()
    expect(ada.page.get_by_label("Fits my schedule")).to_be_checked()
    expect(ada.row(clashing)).to_be_hidden()
    ada.page.get_by_role("link", name="My classes").click()
    expect(ada.mine).to_be_visible()
    ada.page.go_back()
    expect(ada.page.get_by_label("I meet the requirements")).to_be_checked()
    expect(ada.row(free)).to_be_visible()
    expect(ada.row(barred)).to_be_hidden()


def test_without_javascript_the_same_filters_work(meet: Meet, term: Term, free: Section) -> None:
    needs = {"prerequisites": {"course": "MAT-1010"}}
    barred = builders.a_section(a_course("CHE"), term, **needs)
    builders.an_open_window(term)
    ada = meet("ada", java_script_enabled=False)
    ada.go(f"/terms/{term.id}")
    ada.page.get_by_label("I meet the requirements").check()
    ada.page.get_by_role("button", name="Search").click()
    expect(ada.row(free)).to_be_visible()
    expect(ada.row(barred)).to_be_hidden()
    expect(ada.page.get_by_label("I meet the requirements")).to_be_checked()


def test_the_week_beside_the_list_shows_where_a_section_would_be(
    meet: Meet, term: Term, mine: Section, clashing: Section, free: Section
) -> None:
    builders.an_open_window(term, minutes=300)
    ada = meet("ada", viewport=LAPTOP).enter(term)
    ada.pick(mine)
    expect(kinds(ada, "mine")).to_have_count(2)
    rows = [f"#section-{each.id}" for each in (mine, clashing, free)]
    before = places(ada.page, ".mini-week", "#plan", *rows)
    ada.row(free).hover()
    expect(kinds(ada, "would")).to_have_count(2)
    assert kinds(ada, "would").evaluate_all(DAYS) == [1, 4]
    ada.row(clashing).locator(".row-more").focus()  # by keyboard the same
    expect(kinds(ada, "clash")).to_have_count(2)
    expect(kinds(ada, "would")).to_have_count(0)
    ada.page.get_by_label("Search").focus()
    expect(kinds(ada, "clash")).to_have_count(0)
    assert places(ada.page, ".mini-week", "#plan", *rows) == before
    expect(ada.page.locator(".mini-week")).to_have_attribute("aria-hidden", "true")
    legend = ada.page.get_by_text("Dashed: planned")
    expect(legend).to_be_hidden()
    ada.row(free).locator(".row-plan").click()
    expect(kinds(ada, "planned")).to_have_count(2)
    expect(legend).to_be_visible()


@variants.scripts("scripts", "no scripts")
def test_planning_takes_one_press_and_no_dialog(
    meet: Meet, term: Term, section: Section, scripts: Any
) -> None:
    builders.a_coming_window(term)
    ada = meet("ada", java_script_enabled=scripts)
    ada.go(f"/terms/{term.id}?q=CSC")
    button = ada.row(section).locator(".row-plan")
    for pressed, number in (("true", 1), ("false", 0)):
        button.click()
        expect(button).to_have_attribute("aria-pressed", pressed)
        expect(lines(ada)).to_have_count(number)
        expect(ada.dialog).to_be_hidden()
    assert "q=CSC" in ada.page.url


def test_details_are_a_page_and_lie_over_the_list_with_scripts(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben", java_script_enabled=False)
    link = ada.row(section).locator(".row-more")
    link.click()
    expect(ada.dialog).to_contain_text("CRN")
    ada.page.go_back()
    expect(ada.dialog).to_be_hidden()
    expect(link).to_be_focused()
    ben.go(f"/terms/{term.id}")
    ben.row(section).locator(".row-more").click()
    expect(ben.page).to_have_url(f"/terms/{term.id}/sections/{section.id}")
    ben.page.get_by_role("link", name="Add class").click()
    expect(ben.page.get_by_role("button", name="Add class")).to_be_visible()


def kinds(person: Person, kind: str) -> Locator:
    """The blocks of a kind in the week beside the list."""
    return person.page.locator(f'.mini-week [data-kind="{kind}"]')


def test_without_classes_the_next_step_leads_to_the_sections(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    expect(ada.row(section)).to_be_visible()
    step = ada.page.locator("#mine").get_by_role("link", name="View sections")
    expect(step).to_have_count(0)  # beside the list it would lead nowhere
    ada.go(f"/terms/{term.id}/mine")
    step.click()
    expect(ada.page).to_have_url(re.compile(f"/terms/{term.id}$"))


def test_each_next_step_of_a_refusal_has_a_line_of_its_own(meet: Meet, term: Term) -> None:
    needed = a_course("MAT")
    builders.a_section(needed, term)
    barred = builders.a_section(a_course("CHE"), term, prerequisites={"course": needed.code})
    builders.an_open_window(term)
    ada = meet("ada", viewport=PHONE).enter(term)
    ada.cell(barred).get_by_role("link").click()
    steps = ada.dialog.locator(".reason-step")
    expect(steps.first).to_be_visible()
    assert set(steps.evaluate_all("all => all.map((it) => getComputedStyle(it).display)")) == {
        "flex"
    }
