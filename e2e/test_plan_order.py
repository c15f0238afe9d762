"""The choices of a plan are put in order by pointer, by touch, by keyboard and without scripts."""

from collections.abc import Sequence
from typing import Any

import pytest
from playwright.sync_api import Locator, expect

from e2e import variants
from e2e.contrast import DESKTOP, PHONE
from e2e.person import Meet, Person
from e2e.plans import lines, plan
from portal.catalog.models import Section, Term
from tests import cast as builders


@pytest.fixture
def planned(section: Section, others: list[Section]) -> list[Section]:
    return [section, *others]


def opened(person: Person, term: Term, planned: Sequence[Section]) -> Person:
    """My plan with three choices."""
    person.enter(term)
    for each in planned:
        plan(person, each)
    person.listen(f"/terms/{term.id}/plan")
    expect(lines(person)).to_have_count(3)
    return person


def grips(person: Person) -> Locator:
    return person.page.locator(".plan-grip")


def names(person: Person) -> list[str]:
    return lines(person).locator("strong").all_inner_texts()


def are(person: Person, *wanted: str) -> None:
    """The choices stand in this order, also after a reload."""
    expect(lines(person).locator("strong")).to_have_text([*wanted])
    person.page.reload()
    expect(lines(person).locator("strong")).to_have_text([*wanted])


def centre(part: Locator) -> tuple[float, float]:
    box = part.bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def place(part: Locator) -> float:
    """Where it is on the page, however far that is scrolled."""
    return part.evaluate("it => it.getBoundingClientRect().top + scrollY")


def test_a_choice_is_dragged_to_its_place_with_a_mouse(
    meet: Meet, term: Term, planned: list[Section]
) -> None:
    builders.a_coming_window(term, minutes=300)
    ada = opened(meet("ada", viewport=DESKTOP), term, planned)
    first, second, third = names(ada)
    mouse = ada.page.mouse
    x, y = centre(grips(ada).first)
    end = centre(lines(ada).last)[1] + 20
    mouse.move(x, y)
    mouse.down()
    mouse.move(x, (y + end) / 2)
    mouse.move(x, end)
    mouse.up()
    are(ada, second, third, first)


def test_a_drag_that_is_abandoned_changes_nothing(
    meet: Meet, term: Term, planned: list[Section]
) -> None:
    builders.a_coming_window(term, minutes=300)
    ada = opened(meet("ada", viewport=DESKTOP), term, planned)
    first, second, third = names(ada)
    before = place(lines(ada).first)
    x, y = centre(grips(ada).first)
    ada.page.mouse.move(x, y)
    ada.page.mouse.down()
    ada.page.mouse.move(x, y + 300)
    ada.page.keyboard.press("Escape")
    ada.page.mouse.up()
    assert place(lines(ada).first) == before
    are(ada, first, second, third)


def test_a_choice_is_dragged_with_a_finger_and_the_page_does_not_scroll(
    meet: Meet, term: Term, planned: list[Section]
) -> None:
    builders.a_coming_window(term, minutes=300)
    ada = opened(meet("ada", viewport=PHONE, has_touch=True), term, planned)
    first, second, third = names(ada)
    grips(ada).first.evaluate("it => scrollTo(0, it.getBoundingClientRect().top + scrollY - 200)")
    before = ada.page.evaluate("scrollY")
    x, y = centre(grips(ada).first)
    passed = lines(ada).nth(1).bounding_box()
    assert passed
    touch = ada.page.context.new_cdp_session(ada.page)

    def send(kind: str, *points: Any) -> None:
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})

    send("touchStart", {"x": x, "y": y})
    way = passed["height"] + 20  # past the middle of the choice below, not just as far
    for step in range(1, 6):
        send("touchMove", {"x": x, "y": y + step * way / 5})
    assert ada.page.evaluate("scrollY") == before
    send("touchEnd")
    are(ada, second, first, third)


@variants.scripts("scripts", "no scripts")
def test_a_choice_is_moved_by_its_button_with_the_keyboard(
    meet: Meet, term: Term, planned: list[Section], *, scripts: bool
) -> None:
    builders.a_coming_window(term, minutes=300)
    opened(meet("ada"), term, planned)
    ada = meet("ada", java_script_enabled=scripts)
    ada.go(f"/terms/{term.id}/plan")
    first, second, third = names(ada)
    expect(grips(ada).first).to_be_visible(visible=scripts)
    down = lines(ada).first.get_by_role("button", name="Down")
    expect(down).to_be_visible(visible=not scripts)
    if scripts:
        ada.page.get_by_role("checkbox", name="Change order").press("Space")
    down.focus()
    ada.page.keyboard.press("Enter")
    are(ada, second, first, third)
