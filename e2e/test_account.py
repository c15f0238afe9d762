"""An account and its tokens: with the keyboard alone, with scripts and without."""

import pytest
import requests
from playwright.sync_api import expect

from e2e.person import Meet, Person
from e2e.portal import Running
from e2e.test_keyboard import tab_to
from tests import cast as builders
from tests.cast import PASSWORD
from tests.recorder.processes import wait_for

FRESH = "copper lantern walks twice"


@pytest.fixture(scope="module", autouse=True)
def newcomers(portal: Running) -> None:  # noqa: ARG001
    """Make accounts for this file alone, as it changes passwords and tokens."""
    for name in ("rosa", "sami", "tess"):
        builders.a_student(name)


def me(portal: Running, token: str) -> int:
    """What the API answers to the token."""
    bearer = {"Authorization": f"Bearer {token}"}
    return requests.get(f"{portal.address}/api/v1/me", headers=bearer, timeout=10).status_code


def test_a_token_is_made_used_and_revoked_with_the_keyboard_alone(
    meet: Meet, portal: Running
) -> None:
    rosa = meet("rosa")
    page, keys = rosa.page, rosa.page.keyboard
    rosa.go("/")
    tab_to(rosa, page.get_by_role("link", name="Rosa"))
    keys.press("Enter")
    tab_to(rosa, page.get_by_role("link", name="Access tokens"))
    keys.press("Enter")
    tab_to(rosa, page.get_by_label("Purpose"))
    keys.type("My script")
    keys.press("Enter")
    secret = page.get_by_label("Your new token")
    token = secret.input_value()
    assert me(portal, token) == 200

    tab_to(rosa, page.get_by_role("link", name="Revoke My script"))
    keys.press("Enter")
    expect(rosa.dialog).to_be_visible()
    tab_to(rosa, rosa.dialog.get_by_role("button", name="Revoke token"))
    keys.press("Enter")
    expect(page.locator("#toasts")).to_contain_text("Token “My script” revoked.")
    expect(page.get_by_text("You have no access tokens.")).to_be_visible()
    wait_for(lambda: me(portal, token) == 401)


def test_a_token_can_be_made_and_revoked_without_scripts(meet: Meet, portal: Running) -> None:
    sami = meet("sami", java_script_enabled=False)
    sami.go("/account/tokens")
    sami.page.get_by_label("Purpose").fill("My script")
    sami.page.get_by_role("button", name="Create token").click()
    token = sami.page.get_by_label("Your new token").input_value()
    expect(sami.page.get_by_role("button", name="Copy")).to_be_hidden()
    assert me(portal, token) == 200
    sami.page.get_by_role("link", name="Revoke My script").click()
    sami.page.get_by_role("button", name="Revoke token").click()
    expect(sami.page.get_by_text("You have no access tokens.")).to_be_visible()
    wait_for(lambda: me(portal, token) == 401)


def test_a_changed_password_logs_out_every_other_window(meet: Meet) -> None:
    here, there = meet("tess"), meet()
    there.log_in("tess")
    here.go("/account/password")
    change(here, PASSWORD, "password1234")
    expect(here.page.get_by_role("alert")).to_contain_text("is easy to guess")
    change(here, PASSWORD, FRESH)
    expect(here.page.locator("#toasts")).to_contain_text("Password changed.")
    there.go("/account")
    # Another process may take a moment to hear of it.
    there.asks_until(there.page.get_by_label("Username"))
    there.log_in("tess", FRESH)


def change(person: Person, current: str, fresh: str) -> None:
    """Fill in the form and look at what was typed."""
    page = person.page
    page.get_by_label("Current password").fill(current)
    page.get_by_label("New password").fill(fresh)
    shows = page.locator("[data-show=fresh]")
    expect(page.locator("#fresh")).to_have_attribute("type", "password")
    shows.click()
    expect(shows).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#fresh")).to_have_attribute("type", "text")
    page.get_by_role("button", name="Change password").click()
