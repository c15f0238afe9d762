"""The pages of staff are one family, fit any name, and say whose time they mean."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect
from sqlalchemy import update

from e2e import axe, sizes
from e2e.campus import Campus
from e2e.contrast import DESKTOP, PHONE
from e2e.courses import a_course
from e2e.person import Meet
from portal.catalog.models import Instructor, Section, Term
from portal.core.db import transaction
from portal.people.models import Account
from tests import cast as builders
from tests.ledger_claims import claim
from tests.soak import in_soak

# Per role: its tabs, each with the first words of its page; a page it may not see, and why.
ROLES = {
    "auditor": (
        {
            "Windows": "Windows",
            "Sections": "Sections",
            "Students": "Students",
            "Instructors": "Instructors",
            "Staff": "Staff",
            "Accounts": "Accounts",
            "Requests": "Requests",
            "Receipts": "Receipts",
            "Audit trail": "Audit trail",
            "Imports": "Imports",
            "Operations": "Operations",
        },
        "/admin/terms/{term}/windows/new",
        "Your role (Auditor) does not let you change windows and waiting rooms.",
    ),
    "help_desk": (
        {
            "Windows": "Windows",
            "Sections": "Sections",
            "Students": "Students",
            "Instructors": "Instructors",
            "Accounts": "Accounts",
            "Requests": "Requests",
            "Receipts": "Receipts",
        },
        "/admin/audit",
        "Your role (Help desk) does not let you see the audit trail.",
    ),
    "scheduler": (
        {"Windows": "Windows", "Sections": "Sections"},
        "/admin/students",
        "Your role (Department scheduler) does not let you see students and their records.",
    ),
    "adviser": (
        {"Windows": "Windows", "Students": "Students"},
        "/admin/terms/{term}/sections",
        "Your role (Adviser) does not let you see all sections and the catalog.",
    ),
}
NAMES = ("عبد الرحمن بن محمد", "Wolfeschlegelsteinhausenbergerdorff" * 3, "Suharto")

# The height at which the text of each element stands.
MIDDLES = """all => all.map((it) => {
    const text = document.createRange();
    text.selectNodeContents(it);
    const { top, bottom } = text.getBoundingClientRect();
    return (top + bottom) / 2;
})"""


@pytest.mark.parametrize("number", [0, 1, *in_soak(2)])
def test_any_name_fits_the_pages_of_staff_and_students(
    meet: Meet, term: Term, section: Section, number: int
) -> None:
    builders.an_open_window(term)
    name = NAMES[number]
    username = f"named{number}"
    student = builders.a_student(username)
    teacher = builders.added(Instructor(name=name))
    taught = builders.a_section(a_course("NAM"), term, instructor=teacher)
    with transaction() as session:
        whose = update(Account).where(Account.id == student.account_id)
        session.execute(whose.values(name=name))
    claim(student, section)
    claim(student, taught)
    boss = meet("max")
    for address in (
        f"/admin/students/{student.id}",
        f"/admin/students?q={student.number}",
        f"/admin/receipts?q={student.number}",
        f"/admin/terms/{term.id}/sections/{section.id}/results",
        f"/teaching/sections/{section.id}",
    ):
        boss.go(address)
        expect(boss.page.locator("main")).to_contain_text(name)
        assert not sizes.lacks(boss.page), address
    person = meet(username)
    for address in (
        f"/terms/{term.id}",
        f"/terms/{term.id}/sections/{taught.id}",
        f"/terms/{term.id}/sections/{taught.id}/drop",
        f"/terms/{term.id}/schedule",
        "/account",
    ):
        person.go(address)
        expect(person.page.locator("main")).to_contain_text(name)
        assert not sizes.lacks(person.page), address


def test_the_seats_of_a_term_add_up(meet: Meet, campus: Campus) -> None:
    boss = meet("max")
    boss.go(campus.find("/admin/terms/{open}/sections"))
    shown = boss.page.locator("[data-figure]")
    figures = shown.evaluate_all("all => all.map(it => [it.dataset.figure, +it.textContent])")
    seats = {"over": 0} | dict(figures)
    assert seats["taken"] + seats["free"] + seats["reserved"] == seats["offered"] + seats["over"]
    assert seats["taken"]


def test_the_headings_of_a_table_stand_on_one_line(meet: Meet, campus: Campus) -> None:
    boss = meet("max", viewport=DESKTOP)
    boss.go(campus.find("/admin/terms/{open}/underfilled"))
    middles = boss.page.locator("main thead th").evaluate_all(MIDDLES)
    assert len(middles) > 1
    assert max(middles) - min(middles) <= 1, middles


def test_the_lines_of_a_class_begin_at_one_edge_on_a_phone(meet: Meet, campus: Campus) -> None:
    iris = meet("iris", viewport=PHONE)
    iris.go(campus.find("/teaching"))
    row = iris.page.locator("main tbody tr").first
    expect(row.locator(".row-days").first).to_be_visible()
    edges = row.locator(".row-code, .row-days").evaluate_all(
        "all => all.map((it) => it.getBoundingClientRect().x)"
    )
    assert edges[0] == edges[1]


def test_a_window_form_shows_the_time_of_a_device_in_another_zone(meet: Meet, term: Term) -> None:
    boss = meet("max", timezone_id="Asia/Kolkata")
    boss.go(f"/admin/terms/{term.id}/windows/new")
    opens = boss.page.locator("#opens")
    here = boss.page.locator(".field:has(#opens) [data-device-time]")
    expect(here).to_be_hidden()
    opens.fill("2031-01-15T09:00")
    expect(boss.page.locator(".field:has(#opens)")).to_contain_text("In Eastern Time")
    expect(here).to_contain_text("7:30")
    expect(boss.page.locator("#device-zone")).to_be_visible()


def test_a_device_in_the_same_zone_shows_one_time(meet: Meet, term: Term) -> None:
    boss = meet("max", timezone_id="America/New_York")
    boss.go(f"/admin/terms/{term.id}/windows/new")
    boss.page.locator("#opens").fill("2031-01-15T09:00")
    expect(boss.page.locator(".field:has(#opens) [data-device-time]")).to_be_hidden()
    expect(boss.page.locator("#device-zone")).to_be_hidden()


def test_the_tabs_of_the_registrar_are_groups_that_work_without_scripts(
    meet: Meet, term: Term
) -> None:
    assert term
    boss = meet("max", viewport=DESKTOP, java_script_enabled=False)
    boss.go("/admin")
    tabs = boss.page.get_by_role("navigation", name="Main")
    for group in ("Semester", "People", "System"):
        expect(tabs.get_by_role("group", name=group)).to_be_visible()
    people = tabs.get_by_role("group", name="People")
    people.get_by_role("link").first.focus()
    boss.page.keyboard.press("Tab")
    expect(people.get_by_role("link").nth(1)).to_be_focused()
    boss.page.keyboard.press("Enter")
    expect(people.get_by_role("link").nth(1)).to_have_attribute("aria-current", "page")
    boss.page.set_viewport_size(PHONE)
    boss.page.get_by_role("button", name="Menu").click()
    tabs.get_by_role("link", name="Sections").click()
    expect(boss.page).to_have_url(re.compile(r"/admin/terms/\d+/sections$"))


def test_a_list_of_the_registrar_is_sorted_by_a_heading_or_on_a_phone_by_a_field(
    meet: Meet, term: Term
) -> None:
    one, two = a_course("SRT"), a_course("SRT")
    for course, seats in ((one, 9), (two, 8)):
        builders.a_section(course, term, capacity=seats)
    boss = meet("max", viewport=DESKTOP, java_script_enabled=False)
    boss.go(f"/admin/terms/{term.id}/sections")
    first = boss.page.locator("tbody tr").first
    expect(first).to_contain_text(one.title)
    boss.page.get_by_role("link", name="Seats").click()
    expect(first).to_contain_text(two.title)
    expect(boss.page.locator("th[aria-sort=ascending]")).to_contain_text("Seats")
    boss.page.get_by_role("link", name="Seats").click()
    expect(first).to_contain_text(one.title)
    boss.page.set_viewport_size(PHONE)
    boss.page.get_by_role("button", name="Filters").click()
    boss.page.get_by_label("Sort by").select_option("section")
    boss.page.get_by_role("button", name="Search").click()
    expect(boss.page).to_have_url(re.compile("sort=section"))


def test_a_phone_shows_sections_to_the_registrar_at_once_and_the_rest_in_sheets(
    meet: Meet, term: Term, section: Section, last_seat: Section
) -> None:
    assert section
    boss = meet("max", viewport=PHONE)
    boss.go(f"/admin/terms/{term.id}/sections")
    rows = boss.page.locator("tbody tr")
    expect(rows.first).to_be_in_viewport(ratio=1)
    for name in ("More", "Filters"):
        opener = boss.page.get_by_role("button", name=name)
        sheet = boss.page.get_by_role("group", name=name, include_hidden=True)
        for close in ("Back", "Escape"):
            opener.click()
            expect(sheet).to_be_in_viewport(ratio=1)
            assert not list(axe.barriers(boss.page))
            boss.page.go_back() if close == "Back" else boss.page.keyboard.press("Escape")
            expect(sheet).to_be_hidden()
            boss.until("!history.state?.dialog")
    boss.page.get_by_role("button", name="Filters").click()
    boss.page.get_by_label("Fewer enrolled than").fill("many")
    boss.page.get_by_role("button", name="Search").click()
    expect(boss.page.get_by_label("Fewer enrolled than")).to_be_visible()
    expect(boss.page.locator(".field-error")).to_be_visible()
    boss.page.get_by_label("Fewer enrolled than").fill("")
    boss.page.get_by_label("Course, title, instructor or CRN").fill(str(last_seat.crn))
    boss.page.get_by_role("button", name="Search").click()
    expect(rows).to_have_count(1)


@pytest.mark.parametrize("role", ["adviser", *in_soak("auditor", "help_desk", "scheduler")])
def test_a_role_finds_its_pages_in_the_menu_and_reads_why_another_is_closed(
    meet: Meet, term: Term, section: Section, role: str
) -> None:
    assert section
    tabs, closed, why = ROLES[role]
    name = f"{role}{term.id}"
    given: dict[str, Any] = {"staff_roles": [role]}
    if role == "scheduler":
        given = {"schedules_for": [builders.a_department().id]}
    builders.an_account(name, **given)
    someone = meet(name, viewport=PHONE)
    someone.expected = re.compile("status of 403")
    menu = someone.page.get_by_role("navigation", name="Main")
    someone.go("/admin")
    for tab, heading in tabs.items():
        someone.page.get_by_role("button", name="Menu").click()
        expect(menu.get_by_role("link")).to_have_text([*tabs, re.compile("^Inbox")])
        menu.get_by_role("link", name=tab, exact=True).click()
        expect(someone.page.get_by_role("heading", level=1)).to_contain_text(heading)
    answer = someone.go(closed.format(term=term.id))
    assert answer
    assert answer.status == 403
    main = someone.page.locator("main")
    expect(main.get_by_role("heading", level=1)).to_have_text("Your role does not allow this")
    expect(main).to_contain_text(f"{why} Ask the registrar’s office.")
    assert not sizes.lacks(someone.page)
    main.get_by_role("link", name="Go to home page").click()
    expect(main.get_by_role("heading", level=1)).to_have_text("Windows")
