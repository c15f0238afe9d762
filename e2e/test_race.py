"""Ada and Ben want the last seat: one gets it, the other waits for it and is told."""

import re

import pytest
from playwright.sync_api import expect
from sqlalchemy import select

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.recorder.models import LoggedEvent
from tests import cast as builders

PRESS_SOON = """() => setTimeout(
  () => document.querySelector("#dialog button[type=submit]").click(), 300)"""


def race(ada: Person, ben: Person, section: Section) -> tuple[Person, Person]:
    """Both press at the same moment; gives who has the seat and who waits."""
    for person in (ada, ben):
        person.ask(section)
    for person in (ada, ben):
        person.page.evaluate(PRESS_SOON)
    for person in (ada, ben):
        expect(person.dialog).to_be_hidden()
    for person in (ada, ben):
        expect(person.cell(section)).to_have_attribute("data-state", re.compile("."))
    states = [person.cell(section).get_attribute("data-state") for person in (ada, ben)]
    assert sorted(states, key=str) == ["selected", "waiting"]
    return (ada, ben) if states[0] == "selected" else (ben, ada)


def test_the_last_seat_goes_to_one_and_then_to_the_other(
    meet: Meet, portal: Running, term: Term, last_seat: Section
) -> None:
    builders.an_open_window(term)
    ada, ben = meet("ada").enter(term), meet("ben").enter(term)
    iris = meet("iris")
    iris.go(f"/teaching/sections/{last_seat.id}")

    first, second = race(ada, ben, last_seat)
    expect(first.seats(last_seat)).to_contain_text("0 of 1")
    expect(second.mine).to_contain_text("Position 1 of 1")
    expect(iris.page.locator("#roster tbody tr")).to_have_count(2)

    first.ask(last_seat)
    first.confirm()
    first.has(last_seat, "")

    second.has(last_seat, "selected")
    expect(second.page.locator("#toasts")).to_contain_text("You got a seat")
    expect(iris.page.locator("#roster tbody tr")).to_have_count(1)
    expect(iris.seats(last_seat)).to_contain_text("1 of 1 enrolled")
    portal.audit(term.name)


@pytest.mark.parametrize("browser_has", ["scripts", "no scripts"])
def test_the_story_ends_in_the_same_database(
    meet: Meet, portal: Running, term: Term, last_seat: Section, browser_has: str
) -> None:
    builders.an_open_window(term)
    ada, ben = (meet(name, java_script_enabled=browser_has == "scripts") for name in ("ada", "ben"))
    for person in (ada, ben):
        person.go(f"/terms/{term.id}")
        person.cell(last_seat).get_by_role("link").click()
        person.page.locator("form button[type=submit]", has_text="Add").or_(
            person.page.locator("form button[type=submit]", has_text="Join")
        ).click()
        expect(person.mine).to_contain_text("Drop" if person is ada else "Leave")
    ada.go(f"/terms/{term.id}/mine")
    ada.mine.get_by_role("link", name="Drop").click()
    ada.page.get_by_role("button", name="Drop class").click()
    expect(ada.mine).to_contain_text("No classes yet")
    ben.go(f"/terms/{term.id}/mine")
    ben.asks_until(ben.mine.get_by_role("link", name="Drop"))
    portal.audit(term.name)
    names = [event["name"] for event in story(term)]
    assert names == ["enrolled", "waitlisted", "dropped", "promoted"]


def story(term: Term) -> list[dict[str, object]]:
    """What the event log says of students' classes in the term."""
    logged = select(LoggedEvent.name, LoggedEvent.student_id).where(
        LoggedEvent.term_id == term.id,
        LoggedEvent.student_id.is_not(None),
        LoggedEvent.aggregate.startswith("section:"),
    )
    with transaction() as session:
        return [dict(row) for row in session.execute(logged.order_by(LoggedEvent.seq)).mappings()]
