"""Out of the line on purpose, and back."""

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from e2e.room.waiter import waits_as
from e2e.test_lobby import banner_is
from portal.catalog.models import Term


@pytest.mark.usefixtures("crowd")
def test_who_leaves_the_line_is_out_until_they_come_back(meet: Meet, term: Term) -> None:
    ada = waits_as(meet("ada").enter(term), 6)
    ada.page.get_by_role("link", name="Leave the line").click()
    expect(ada.dialog).to_contain_text("Number 6 stays yours until it is called.")
    ada.confirm()
    banner_is(ada, "open")
    ada.page.reload()
    ada.page.get_by_role("button", name="Take my place in line").click()
    waits_as(ada, 6)
