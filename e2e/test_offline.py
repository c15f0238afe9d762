"""Without a connection nothing fails in silence: it is said where one looks, to be repeated."""

import re

from playwright.sync_api import Locator, expect

from e2e import variants
from e2e.person import Meet, Person, context_of
from e2e.plans import AWAKE, outcomes, plan
from e2e.portal import Running
from e2e.test_connection_lost import LOST
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.recorder.processes import wait_for

SCREENS = variants.screens("phone")


def offline(person: Person, *, yes: bool = True) -> None:
    person.expected = re.compile(f"{LOST.pattern}|htmx:(sendError|afterRequest)")
    context_of(person).set_offline(yes)


def note(person: Person) -> Locator:
    """What is said of a request that got no answer."""
    return person.page.locator(".unsent")


def in_sight(place: Locator) -> bool:
    """Return whether its middle is what a finger there would touch."""
    return bool(
        place.evaluate("""it => {
            const { x, y, width, height } = it.getBoundingClientRect();
            return it.contains(document.elementFromPoint(x + width / 2, y + height / 2));
        }""")
    )


@SCREENS
def test_a_dialog_that_cannot_be_opened_says_so_and_opens_when_tried_again(
    meet: Meet, term: Term, section: Section, screen: dict[str, int]
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    offline(ada)
    ada.ask(section)
    expect(ada.dialog.get_by_role("alert")).to_contain_text("No answer from the server")
    expect(ada.dialog.get_by_role("heading")).to_be_focused()
    wait_for(lambda: in_sight(note(ada)))
    ada.dialog.get_by_role("button", name="Try again").click()
    expect(ada.dialog.get_by_role("alert")).to_have_count(1)
    offline(ada, yes=False)
    ada.dialog.get_by_role("button", name="Try again").press("Enter")
    expect(note(ada)).to_have_count(0)
    ada.confirm()
    ada.has(section, "selected")
    expect(ada.cell(section).get_by_role("link").first).to_be_focused()


@SCREENS
def test_a_form_that_could_not_be_sent_says_so_above_its_buttons_until_it_is_sent(
    meet: Meet, portal: Running, term: Term, section: Section, screen: dict[str, int]
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    ada.ask(section)
    offline(ada)
    submit = ada.dialog.locator("button[type=submit]")
    submit.click()
    expect(ada.dialog.get_by_role("alert")).to_contain_text("counts only once")
    wait_for(lambda: in_sight(note(ada)))
    wait_for(lambda: in_sight(submit))
    submit.click()
    expect(note(ada)).to_have_count(1)
    offline(ada, yes=False)
    ada.confirm()
    ada.has(section, "selected")
    expect(note(ada)).to_have_count(0)
    expect(ada.page.locator('.toast[data-tone="stop"]')).to_have_count(0)
    assert portal.backend.ledger.seats(term.id)[section.id].taken == 1


@SCREENS
def test_a_search_that_got_no_answer_says_so_above_the_list(
    meet: Meet, term: Term, section: Section, screen: dict[str, int]
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    offline(ada)
    ada.page.get_by_role("searchbox").fill("nothing like it")
    expect(note(ada)).to_contain_text("No answer from the server")
    expect(ada.row(section)).to_be_visible()
    wait_for(lambda: in_sight(note(ada)))
    expect(ada.page.locator("#connection")).to_contain_text("buttons don’t work")
    offline(ada, yes=False)
    ada.page.get_by_role("button", name="Try again").click()
    expect(ada.page.locator("#results")).to_contain_text("No section matches")
    expect(note(ada)).to_have_count(0)
    expect(ada.page.locator("#connection")).to_be_hidden()


@SCREENS
def test_a_plan_that_could_not_be_sent_is_sent_once_when_tried_again(
    meet: Meet, portal: Running, term: Term, section: Section, screen: dict[str, int]
) -> None:
    builders.an_open_window(term)
    ada = meet("ada", viewport=screen).enter(term)
    plan(ada, section)
    offline(ada)
    ada.page.locator(AWAKE).click()
    expect(ada.dialog.get_by_role("alert")).to_contain_text("counts only once")
    offline(ada, yes=False)
    ada.dialog.get_by_role("button", name="Try again").click()
    assert outcomes(ada) == ["enrolled"]
    expect(note(ada)).to_have_count(0)
    portal.audit(term.name)


def test_the_message_of_a_failure_goes_with_the_next_success(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.an_open_window(term)
    ada = meet("ada").enter(term)
    ada.expected = re.compile(r"status of 500|htmx:responseError|Response Status Error")
    ada.page.route(
        "**/terms/*?q=x*",
        lambda route: route.fulfill(
            status=500,
            headers={
                "HX-Retarget": "#toasts",
                "HX-Reswap": "beforeend",
                "Content-Type": "text/html",
            },
            body='<div class="toast" data-tone="stop" data-error><p>It broke</p></div>',
        ),
    )
    ada.page.get_by_role("searchbox").fill("x")
    expect(ada.page.locator("#toasts")).to_contain_text("It broke")
    ada.page.get_by_role("searchbox").fill("nothing like it")
    expect(ada.page.locator("#results")).to_contain_text("No section matches")
    expect(ada.page.locator("#toasts")).not_to_contain_text("It broke")
    expect(ada.row(section)).to_have_count(0)
