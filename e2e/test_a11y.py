"""No page has a barrier that axe can find, in light and dark, on a desktop and a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from e2e import axe
from e2e.campus import Campus
from e2e.looks import DESKTOP, PHONE
from e2e.person import Meet
from e2e.tour import tour


def looks(page: Page) -> Iterator[str]:
    """The same page as it is seen on a desktop in light and on a phone in dark."""
    page.set_viewport_size(DESKTOP)
    page.emulate_media(color_scheme="light")
    yield "on a desktop in light"
    page.set_viewport_size(PHONE)
    page.emulate_media(color_scheme="dark")
    yield "on a phone in dark"


@pytest.mark.timeout(300)  # every page twice
def test_axe_finds_no_barrier(meet: Meet, campus: Campus) -> None:
    found = []
    for person, name in tour(meet, campus, reduced_motion="reduce"):
        for look in looks(person.page):
            try:
                axe.check(person.page, f"{name}, {look}")
            except AssertionError as error:
                found.append(str(error))
    if found:
        pytest.fail("\n\n".join(found))
