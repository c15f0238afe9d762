"""On a small screen, and with a keyboard alone."""

import pytest
from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Section, Term
from tests import cast as builders

PHONE = {"width": 320, "height": 640}
TOO_WIDE = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.mark.parametrize("who", ["ada", "iris", "max"])
def test_nothing_scrolls_sideways(
    meet: Meet, term: Term, section: Section, last_seat: Section, who: str
) -> None:
    builders.an_open_window(term)
    pages = {
        "ada": [f"/terms/{term.id}", f"/terms/{term.id}/mine", pick_of(section), "/login"],
        "iris": ["/teaching", f"/teaching/sections/{last_seat.id}"],
        "max": ["/admin", f"/admin/terms/{term.id}/windows/new"],
    }
    person = meet(who, viewport=PHONE)
    for address in pages[who]:
        person.go(address)
        assert not person.page.evaluate(TOO_WIDE), address


def test_a_seat_by_keyboard_alone(meet: Meet, term: Term, section: Section) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=PHONE).enter(term)
    keys = ada.page.keyboard
    ada.page.get_by_label("Search").focus()
    link = ada.cell(section).get_by_role("link")
    for _ in range(30):
        keys.press("Tab")
        if link.evaluate("it => it === document.activeElement"):
            break
    expect(link).to_be_focused()
    keys.press("Enter")
    expect(ada.dialog).to_be_visible()
    button = ada.dialog.locator("button[type=submit]")
    for _ in range(10):
        keys.press("Tab")
        if button.evaluate("it => it === document.activeElement"):
            break
    keys.press("Enter")
    expect(ada.dialog).to_be_hidden()
    ada.has(section, "selected")
    expect(ada.cell(section).get_by_role("link", name="Cancel")).to_be_focused()


def pick_of(section: Section) -> str:
    """The page that asks before a seat is claimed."""
    return f"/terms/{section.term_id}/sections/{section.id}/pick"
