"""Out of the line on purpose, and back."""

import re

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from e2e.plans import AWAKE, lines, plan
from e2e.room.conftest import Admit
from e2e.room.waiter import waits_as
from e2e.test_lobby import banner_is
from portal.catalog.models import Section, Term


@pytest.mark.usefixtures("crowd")
def test_who_leaves_the_line_is_out_until_they_come_back(meet: Meet, term: Term) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    ada.page.get_by_role("link", name="Leave the queue").click()
    expect(ada.dialog).to_contain_text("If you come back before your turn, you keep your position.")
    ada.confirm()
    banner_is(ada, "open")
    expect(ada.page.locator("#banner .banner-title")).to_have_text("You left the queue")
    ada.page.reload()
    ada.page.get_by_role("button", name="Join the queue").click()
    waits_as(ada, 6)


@pytest.mark.usefixtures("crowd")
def test_leaving_is_no_turn_and_sends_no_plan(
    meet: Meet, term: Term, section: Section, admit: Admit
) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    plan(ada, section)
    button = ada.page.locator(AWAKE)
    button.click()
    expect(button).to_have_attribute("aria-pressed", "true")
    ada.page.get_by_role("link", name="Leave the queue").click()
    ada.confirm()
    banner_is(ada, "open")
    expect(ada.page).to_have_title(re.compile("^Sections"))
    ada.page.reload()
    ada.page.get_by_role("button", name="Join the queue").click()
    waits_as(ada, 6)
    expect(button).to_have_attribute("aria-pressed", "false")
    admit(10)
    expect(ada.page).to_have_title(re.compile("^Your turn · "))
    expect(ada.dialog).to_be_hidden()
    expect(lines(ada)).to_have_count(1)
