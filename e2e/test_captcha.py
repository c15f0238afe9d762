"""The captcha: the browser does it by itself, and there is another way for browsers that can't."""

import re
from collections.abc import Callable
from email import message_from_bytes, policy
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Route, expect

from e2e.person import Meet, Person
from e2e.portal import Running
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.live.nodes import a_node
from tests.notifications.stories import give_addresses
from tests.protection.captcha.elsewhere import an_elsewhere
from tests.recorder.processes import wait_for

CHECKING = "Checking that you are not a robot…"
CHECKED = "Checked: you are not a robot."
PAGE = "/captcha?next=/inbox"
PUZZLE = "**/captcha/challenge"
HEARD = "() => addEventListener('fs:proven', () => { document.body.dataset.heard = 'yes' })"
LOST = re.compile(r"Failed to load resource: net::ERR_FAILED")


@pytest.fixture(scope="module", autouse=True)
def newcomers(portal: Running) -> None:  # noqa: ARG001
    """Sam, a student, and Rosa, whom no lobby makes do it after the login."""
    builders.a_student("sam")
    builders.an_instructor("rita")
    give_addresses()


def said(person: Person) -> Locator:
    """What a screen reader says of the check."""
    return person.page.locator("main").get_by_role("status")


def hold(person: Person) -> Callable[[], None]:
    """Keep the puzzle back until the result is called."""
    held: list[Route] = []
    person.page.route(PUZZLE, lambda route: held.append(route))  # noqa: PLW0108  marked

    def release() -> None:
        wait_for(lambda: held or person.page.wait_for_timeout(20))
        for route in held:  # the first may be of a page that was left
            route.continue_()

    return release


def test_the_browser_does_it_by_itself_and_says_so(meet: Meet) -> None:
    rita = meet("rita", proven=False)
    release = hold(rita)
    rita.go(PAGE)
    rita.page.evaluate(HEARD)
    expect(said(rita)).to_have_text(CHECKING, use_inner_text=True)
    place = said(rita).bounding_box()
    release()
    expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)
    expect(rita.page.locator("body")).to_have_attribute("data-heard", "yes")
    assert said(rita).bounding_box() == place


def test_in_the_lobby_it_is_done_ahead_of_the_rush(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.a_coming_window(term, minutes=30)
    sam = meet()
    sam.expected = LOST
    sam.page.route(PUZZLE, lambda route: route.abort())  # until the login has led somewhere
    sam.log_in("sam")
    sam.page.unroute(PUZZLE)
    with sam.page.expect_response(lambda it: urlsplit(it.url).path == "/captcha") as answer:
        sam.enter(term)
    assert answer.value.status == 204
    expect(sam.row(section)).to_be_visible()


def test_it_is_read_out_and_leads_on_by_the_keyboard(meet: Meet) -> None:
    rita = meet("rita", proven=False)
    rita.go(PAGE)
    expect(said(rita)).to_match_aria_snapshot(f"- status:\n  - paragraph: '{CHECKED}'")
    rita.page.locator("h1").click()
    rita.page.keyboard.press("Tab")
    expect(rita.page.get_by_role("link", name="Continue")).to_be_focused()
    rita.page.keyboard.press("Enter")
    expect(rita.page).to_have_url(re.compile("/inbox$"))


def test_it_is_done_once_however_often_i_come_back(meet: Meet) -> None:
    rita = meet("rita", proven=False)
    rita.go(PAGE)
    expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)
    asked: list[str] = []
    rita.page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    rita.page.reload()
    expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)
    rita.page.get_by_role("link", name="Continue").click()
    expect(rita.page).to_have_url(re.compile("/inbox$"))
    rita.page.go_back()
    expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)
    assert "/captcha/challenge" not in asked


def test_where_it_does_not_work_out_i_can_try_again(meet: Meet) -> None:
    rita = meet("rita", proven=False)
    rita.expected = LOST
    rita.page.route(PUZZLE, lambda route: route.abort())
    rita.go(PAGE)
    expect(said(rita)).to_contain_text("couldn’t check", use_inner_text=True)
    rita.page.unroute(PUZZLE)
    rita.page.get_by_role("button", name="Try again").press("Enter")
    expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)


def test_without_scripts_a_code_by_mail_does_it(meet: Meet, portal: Running) -> None:
    rita = meet("rita", proven=False, java_script_enabled=False)
    rita.go(PAGE)
    expect(rita.page.get_by_text(CHECKING)).to_be_hidden()
    expect(rita.page.get_by_text("You don’t have to do anything.")).to_be_hidden()
    expect(rita.page.get_by_text("You can get a code by email instead.")).to_be_visible()
    rita.page.get_by_role("button", name="Send code").click()
    expect(rita.page.get_by_text("A code is on its way to rita@u.example.")).to_be_visible()
    rita.page.get_by_label("Code").fill("0000 0000")
    rita.page.get_by_role("button", name="Check code").click()
    expect(rita.page.get_by_label("Code")).to_have_accessible_description(
        "Wrong code. Check it and try again."
    )
    rita.page.get_by_label("Code").fill(code_for("rita", portal.folder / "mail"))
    rita.page.get_by_role("button", name="Check code").click()
    expect(rita.page).to_have_url(re.compile("/inbox$"))
    expect(rita.page.get_by_text(CHECKED)).to_be_visible()


def test_where_the_server_of_puzzles_fails_ours_takes_over(
    meet: Meet, portal: Running, tmp_path: Path
) -> None:
    settings = portal.backend.settings
    with an_elsewhere() as server:
        server.mood = "broken"
        env = {
            "DATABASE_URL": settings.database_url,
            "REDIS_URL": settings.redis_url,
            "SECRET_KEY": (portal.folder / "secret").read_text(),
            "FAIRSEAT_CAPTCHA": server.address,
            "FAIRSEAT_CAPTCHA_COST": "2000",
        }
        with a_node(tmp_path, env) as node:
            rita = meet("rita", proven=False)
            rita.go(f"{node.origin}{PAGE}")
            expect(said(rita)).to_have_text(CHECKED, use_inner_text=True)
        assert server.asked


def code_for(username: str, mails: Path) -> str:
    """The code in the mail to that person, once it has been sent."""
    found: list[str] = []

    def look() -> bool:
        for file in mails.glob("code-*.eml"):
            mail = message_from_bytes(file.read_bytes(), policy=policy.default)
            if f"{username}@u.example" in mail["To"]:
                found.extend(re.findall(r"Your code is (\d{4} \d{4})", mail["Subject"]))
        return bool(found)

    wait_for(look)
    return found[0]
