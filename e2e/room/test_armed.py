"""What is pressed before one's turn goes off when it comes, unless it is held back."""

import re

import pytest
from playwright.sync_api import expect

from e2e.person import Meet, context_of
from e2e.plans import AWAKE, lines, outcomes, plan
from e2e.room.conftest import Admit
from e2e.room.waiter import waits_as
from e2e.test_lobby import banner_is
from portal.catalog.models import Section, Term


@pytest.mark.usefixtures("crowd")
def test_a_plan_that_is_pressed_in_line_goes_off_at_my_turn(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    plan(ada, section)
    button = ada.page.locator(AWAKE)
    expect(button).to_contain_text("when it is my turn")
    button.focus()
    ada.page.keyboard.press("Enter")
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(ada.page.locator("#toasts")).to_contain_text("We submit your plan when it is your turn")
    ada.page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    admit(10)
    assert outcomes(ada) == ["enrolled"]
    ada.has(section, "selected")
    expect(lines(ada)).to_have_count(0)


@pytest.mark.usefixtures("crowd")
def test_a_plan_that_is_held_back_again_stays(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    plan(ada, section)
    button = ada.page.locator(AWAKE)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    admit(10)
    banner_is(ada, "open")
    ada.page.reload()
    expect(button).not_to_have_attribute("aria-pressed", re.compile("."))
    expect(ada.dialog).to_be_hidden()
    expect(lines(ada)).to_have_count(1)


def test_a_claim_without_a_pass_gets_one_and_is_made(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    admit(5)
    ada = meet("ada").enter(term)
    ada.expected = re.compile("status of 403")
    plan(ada, section)
    ada.page.locator(AWAKE).click()
    assert outcomes(ada) == ["enrolled"]
    ada.page.keyboard.press("Escape")
    ada.ask(section)
    ada.confirm()
    ada.has(section, "")
    ada.ask(section)
    context_of(ada).clear_cookies(name="pass")
    ada.confirm()
    ada.has(section, "selected")
