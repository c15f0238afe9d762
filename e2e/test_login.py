"""Everyone comes to what is theirs, and to nothing else."""

import re

from playwright.sync_api import expect

from e2e.person import Meet
from portal.catalog.models import Term
from tests import cast as builders
from tests.cast import PASSWORD


def test_a_wrong_password_has_a_plain_message(meet: Meet) -> None:
    someone = meet()
    someone.go("/")
    expect(someone.page.get_by_label("Username")).to_be_focused()
    someone.page.get_by_label("Username").fill("ada")
    someone.page.get_by_label("Password").fill("not hers")
    someone.page.get_by_role("button", name="Log in").click()
    expect(someone.page.get_by_role("alert")).to_contain_text("Wrong username or password")


def test_a_login_leads_on_to_the_page_that_was_asked_for(meet: Meet, term: Term) -> None:
    someone = meet()
    someone.go(f"/terms/{term.id}/mine")
    someone.page.get_by_label("Username").fill("dan")
    someone.page.get_by_label("Password").fill("a seat for everyone")
    someone.page.get_by_role("button", name="Log in").click()
    expect(someone.mine).to_be_visible()


def test_who_logs_out_is_out(meet: Meet, term: Term) -> None:
    cleo = meet()
    cleo.log_in("cleo")
    cleo.page.get_by_role("button", name="Log out").click()
    cleo.go(f"/terms/{term.id}")
    expect(cleo.page.get_by_label("Username")).to_be_visible()


def test_after_many_guesses_a_browser_is_checked_by_itself_and_let_in(meet: Meet) -> None:
    builders.a_student("uma")
    someone = meet()
    someone.expected = re.compile("Failed to load resource: .* status of (422|429)")
    page = someone.page
    someone.go("/login")
    for _ in range(70):  # ten in a minute are enough, sixty in an hour are
        page.get_by_label("Username").fill("uma")
        page.get_by_label("Password").fill("a guess")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_be_visible()
        if page.locator("[data-captcha]").count():
            break
    expect(page.get_by_text("Checked: you are not a robot.")).to_be_visible()
    page.get_by_label("Username").fill("uma")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("button", name="Log out")).to_be_visible()
