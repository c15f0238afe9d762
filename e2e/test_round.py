"""A round from its making to its result, with three students on screen.

One checks the proof, one uses the keyboard alone, and one has no JavaScript.
"""

import re
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import Page, expect
from sqlalchemy import select

from e2e.courses import a_course
from e2e.person import Meet, Person
from e2e.test_keyboard import tab_to
from portal.catalog.local_time import local_clock
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.people.models import Student
from portal.windows import rounds
from tests import cast as builders
from tests.rounds.builders import DAY, ended, known

SLOW = 30_000  # ms for a job of the portal, and for the page to ask for it


def test_a_round_from_its_making_to_a_checked_result(
    meet: Meet, term: Term, tmp_path: Path
) -> None:
    one, two = (
        builders.a_section(a_course(code), term, capacity=seats)
        for code, seats in (("RND", 1), ("ALT", 9))
    )
    boss = meet("max").page
    _makes_and_announces(boss, term)
    (found,) = rounds.of_term(term.id)

    students = [meet("ada"), meet("ben"), meet("cleo", java_script_enabled=False)]
    for each, press in zip(students, (_click, _press, _click), strict=True):
        for section in (one, two):
            each.go(f"/terms/{term.id}/sections/{section.id}/plan")
            press(each, "Add to plan")
        each.go(f"/terms/{term.id}/plan")
        expect(each.page.get_by_text("Being early makes no difference")).to_be_visible()
        press(each, "Submit my ballot")
        expect(each.page.get_by_text("Your ballot has 2 choices")).to_be_visible()
    _share(students[0], students[1], f"/terms/{term.id}/rounds/{found.id}", "ben")
    boss.goto(f"/admin/terms/{term.id}/rounds/{found.id}")
    expect(boss.locator(".dials dd").first).to_have_text("3")

    ended(found)
    expect(boss.get_by_text("The ballots are fixed.")).to_be_visible(timeout=SLOW)
    known(found)
    expect(boss.get_by_role("link", name="Enter the public value")).to_be_visible(timeout=SLOW)
    root = boss.locator("dd.receipt-code").nth(1).inner_text()
    boss.get_by_role("link", name="Enter the public value").click()
    boss.get_by_label("Public value", exact=True).fill("4711")
    boss.get_by_label("Reason").fill("The draw of Saturday")
    boss.get_by_role("button", name="Look at it once more").click()
    boss.get_by_role("button", name="Store and compute").click()
    expect(boss.get_by_role("link", name="Publish the result")).to_be_visible(timeout=SLOW)
    boss.get_by_role("link", name="Compare methods").click()
    expect(boss.get_by_text("With the real draw of the round.")).to_be_visible()
    boss.go_back()
    boss.get_by_role("link", name="Publish the result").click()
    boss.get_by_label("Reason").fill("Checked")
    boss.get_by_role("button", name="Publish the result").click()
    expect(boss.get_by_text("script that checks it")).to_be_visible(timeout=SLOW)

    won = 0
    for each in students:
        each.go(f"/terms/{term.id}/rounds/{found.id}")
        expect(each.page.get_by_role("heading", name="Your result")).to_be_visible()
        won += each.page.locator("li[data-outcome=enrolled]").count()
    assert won == 1 + 3  # the only seat, and everyone's second choice
    ada = students[0].page
    for name in ("File with all ballots and the result", "Script that checks it"):
        with ada.expect_download() as loading:
            ada.get_by_role("link", name=name).click()
        loading.value.save_as(tmp_path / loading.value.suggested_filename)
    code = ada.locator("dd.receipt-code").first.inner_text()
    command = [sys.executable, "verify.py", f"round-{found.id}.json", code, root]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert "yes Your ballot is in the file." in ran.stdout


def _click(person: Person, button: str) -> None:
    person.page.get_by_role("button", name=button).click()


def _press(person: Person, button: str) -> None:
    """Press a button with the keyboard alone."""
    tab_to(person, person.page.get_by_role("button", name=button), most=80)
    with person.page.expect_navigation():
        person.page.keyboard.press("Enter")


def _share(one: Person, other: Person, address: str, name: str) -> None:
    """Let a student rank the second choice together with another one, who agrees."""
    with transaction() as session:
        number = session.scalars(
            select(Student.number).join(Student.account).filter_by(username=name)
        ).one()
    one.go(address)
    one.page.get_by_label("Your choice").select_option(index=1)
    one.page.get_by_label("Student numbers of one to three others").fill(number)
    one.page.get_by_role("button", name="Rank it together").click()
    expect(one.page.get_by_text("Does not count yet")).to_be_visible()
    other.go(address)
    _press(other, "Agree")
    expect(other.page.get_by_text("Counts", exact=True)).to_be_visible()


def _makes_and_announces(boss: Page, term: Term) -> None:
    """Fill in the form of a round that begins now, and announce it."""
    clock, now = local_clock(), rounds.database_now()
    boss.goto(f"/admin/terms/{term.id}/rounds/new")
    boss.get_by_label("Name").fill("First round")
    boss.get_by_label("Begins").fill(clock.field((now - 60_000) // 60_000 * 60_000))
    boss.get_by_label("Ends").fill(clock.field(now // 60_000 * 60_000 + 3_600_000))
    boss.get_by_label("Where the public value will come from").fill("The lottery of Saturday")
    boss.get_by_label("Public value known from").fill(clock.field(now // DAY * DAY + 2 * DAY))
    boss.get_by_label("Reason").fill("As the senate decided")
    boss.get_by_role("button", name="Save draft").click()
    expect(boss.get_by_text("is saved as a draft")).to_be_visible()
    boss.get_by_role("link", name="Announce the round").click()
    boss.get_by_label("Reason").fill("Now")
    boss.get_by_role("button", name="Announce the round").click()
    expect(boss.get_by_text(re.compile("is announced"))).to_be_visible()
