"""An admin turns a waiting room's limits while a student waits before it, both on screen."""

import re

from playwright.sync_api import expect

from e2e.person import Meet, Person
from e2e.test_lobby import banner_is
from portal.catalog.models import Section, Term
from portal.waiting_room import room
from tests import cast as builders


def shows(admin: Person, name: str, number: str) -> None:
    """See a number on the admin's page, which asks every five seconds."""
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
        "link", name="Waiting room"
    ).click()
    shows(boss, "Waiting", "3")
    banner_is(ada.enter(term), "line")
    shows(boss, "Waiting", "4")
    boss.page.get_by_label("Maximum admitted at once").fill("lots")
    boss.page.get_by_label("Reason").fill("Seats are free.")
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
    press(boss, "Pause the waiting room", "Pause")
    expect(boss.page.locator("#room-figures")).to_contain_text("Paused")
    room.enter(term.id, window.id, 900_200)
    shows(boss, "Waiting", "1")
    chief = meet("max")
    chief.go("/admin/operations")
    state = chief.page.locator("#ops-state")
    expect(state).to_contain_text("Max paused the waiting room of Selection")
    expect(state).to_contain_text("No one is admitted.")
    expect(state).not_to_contain_text("Everything works")
    press(boss, "Resume the waiting room", "Resume")
    shows(boss, "Admitted", "1")
    press(boss, "Switch off and admit everyone", "Switch off")
    expect(boss.page.locator("#room-figures")).to_contain_text(re.compile("admitted at once"))
