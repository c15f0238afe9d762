"""An admin turns a waiting room's limits while a student waits before it, both on screen."""

import re

from playwright.sync_api import expect

from e2e import variants
from e2e.contrast import NARROW, PHONE, places
from e2e.person import Meet, Person
from e2e.sizes import too_wide
from e2e.test_lobby import banner_is
from portal.catalog.models import Section, Term
from portal.waiting_room import room
from tests import cast as builders
from tests.web.admin.test_opening import a_rehearsal


def shows(admin: Person, name: str, number: str) -> None:
    """See a number on the admin's page, which asks every two seconds."""
    dial = admin.page.locator(f".dials > div:has(dt:text-is('{name}')) .num")
    expect(dial).to_have_text(number)


def press(admin: Person, link: str, button: str) -> None:
    """Ask for something, and say why it is to be done."""
    admin.page.get_by_role("link", name=link).click()
    admin.page.get_by_label("Reason").fill("The rush is over.")
    admin.page.get_by_role("button", name=button).click()


def test_an_admin_raises_the_limit_and_the_student_picks(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 600, 0, off=False)
    for student in range(900_100, 900_103):
        room.enter(term.id, window.id, student)
    boss, ada = meet("max"), meet("ada")
    boss.go("/admin")
    boss.page.locator(f"section[aria-labelledby=term-{term.id}]").get_by_role(
        "link", name="Opening day"
    ).click()
    shows(boss, "Waiting", "3")
    banner_is(ada.enter(term), "line")
    shows(boss, "Waiting", "4")
    boss.page.get_by_label("Maximum admitted at once").fill("lots")
    boss.page.get_by_role("textbox", name="Reason").fill("Seats are free.")
    boss.page.get_by_role("button", name="Save limits").click()
    expect(boss.page.locator(".errors")).to_contain_text("enter a whole number from 1")
    boss.page.get_by_label("Maximum admitted at once").fill("10")
    boss.page.get_by_role("button", name="Save limits").click()
    shows(boss, "Waiting", "0")
    banner_is(ada, "open")
    ada.pick(section)
    ada.has(section, "selected")


def test_an_admin_pauses_the_line_and_lets_it_go_on(meet: Meet, term: Term) -> None:
    window = builders.an_open_window(term)
    boss = meet("max")
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/room")
    boss.page.get_by_role("link", name="Pause the waiting room").click()
    boss.page.get_by_role("button", name="Pause").click()
    expect(boss.page.locator(".errors")).to_contain_text("Enter a reason")
    boss.page.get_by_role("link", name="Opening day").click()
    expect(boss.page.locator("#opening-room")).not_to_contain_text("Paused")
    press(boss, "Pause the waiting room", "Pause")
    expect(boss.page.locator("#opening-room")).to_contain_text("Paused")
    room.enter(term.id, window.id, 900_200)
    shows(boss, "Waiting", "1")
    chief = meet("max")
    chief.go("/admin/operations")
    state = chief.page.locator("#ops-state")
    expect(state).to_contain_text("Max paused the waiting room of Selection")
    expect(state).to_contain_text("No one is admitted.")
    expect(state).not_to_contain_text("Everything works")
    boss.page.get_by_role("button", name="Resume the waiting room").click()
    shows(boss, "Admitted", "1")
    press(boss, "Switch off and admit everyone", "Switch off")
    expect(boss.page.locator("#opening-room")).to_contain_text(re.compile("admitted at once"))


def test_the_buttons_of_the_waiting_room_are_right_below_the_state(meet: Meet, term: Term) -> None:
    window = builders.an_open_window(term)
    boss = meet("max", viewport=PHONE)
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/room")
    shown = ("#opening-now > p", "#room-pause", "#opening-now .dials", "#opening-seats")
    tops = [top for _, top, *_ in places(boss.page, *shown)]
    assert tops == sorted(tops)
    expect(boss.page.locator("#room-pause")).to_be_in_viewport()


def test_a_paused_waiting_room_rings_for_admins_who_turned_alarms_on(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.an_open_window(term)
    boss, chief, ada = meet("max"), meet("max"), meet("ada").enter(term)
    ada.pick(section)
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/room")
    expect(boss.page.locator("[data-figure=seats]")).to_have_text("1")
    expect(boss.page.locator("#opening-seats rect")).to_have_count(1)
    chief.listen("/admin/operations")
    bell, alert = chief.page.locator("#bell"), chief.page.locator("#bell-alert")
    bell.get_by_role("button", name="Turn on alarm sound").click()
    expect(bell).to_have_attribute("data-rung", "1")  # how it sounds
    press(boss, "Pause the waiting room", "Pause")
    expect(alert).to_contain_text("No one is admitted")
    rings = chief.page.locator("[data-rings]", has_text="Max paused the waiting room")
    expect(rings).to_be_visible()
    expect(bell).to_have_attribute("data-rung", "2")
    expect(chief.page).to_have_title(re.compile("^⚠ Operations"))
    bell.get_by_role("button", name="Mute the alarm").click()
    expect(bell.get_by_role("button")).to_have_text("Turn on alarm sound")
    boss.page.get_by_role("button", name="Resume the waiting room").click()
    expect(alert).to_be_empty()
    expect(chief.page).to_have_title(re.compile("^Operations"))


def test_an_open_page_of_an_opening_says_that_its_figures_are_old(meet: Meet, term: Term) -> None:
    window = builders.an_open_window(term)
    boss = meet("max")
    boss.expected = re.compile("Failed to load resource")
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/room")
    old = boss.page.get_by_text("The portal isn’t responding to this page.")
    boss.page.get_by_label("Admissions per minute").fill("77")
    boss.page.route("**/room/figures", lambda it: it.abort())
    expect(old).to_be_visible()
    boss.page.unroute("**/room/figures")
    expect(old).to_be_hidden()
    expect(boss.page.get_by_label("Admissions per minute")).to_have_value("77")


@variants.scripts("scripts")
def test_the_limits_of_a_rehearsal_are_used_and_the_earlier_ones_come_back(
    meet: Meet, term: Term, *, scripts: bool
) -> None:
    window = builders.an_open_window(term)
    room.set_limits(term.id, window.id, 60, 5, off=False)
    a_rehearsal()
    boss = meet("max", viewport=NARROW, java_script_enabled=scripts)
    facts = boss.page.locator("#opening-room .facts")
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/room")
    expect(facts).to_contain_text("240 per minute, 3,600 at once")
    expect(facts).to_contain_text("on crowd-1 (8 cores)")
    press(boss, "Use these limits", "Use these limits")
    expect(facts.locator("dd").first).to_have_text("240 per minute, 3,600 at once")
    expect(facts).to_contain_text("60 per minute, 5 at once")
    expect(facts).to_contain_text("The rush is over.")
    expect(boss.page.get_by_label("Admissions per minute")).to_have_value("240")
    expect(boss.page.get_by_role("link", name="Use these limits")).to_have_count(0)
    if scripts:
        assert not too_wide(boss.page)
    press(boss, "Restore the previous limits", "Use these limits")
    expect(facts.locator("dd").first).to_have_text("60 per minute, 5 at once")
    expect(boss.page.get_by_label("Maximum admitted at once")).to_have_value("5")
