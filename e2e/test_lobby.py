"""The lobby counts down, becomes the picker by itself, and follows what an admin does."""

import time
from datetime import datetime, timedelta

from playwright.sync_api import expect

from e2e.contrast import places
from e2e.person import PATIENCE, Meet, Person
from portal.catalog.models import Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim

SECONDS = 1 / 60
# The color of the banner and the size of its number.
LOOK = """() => {
    const banner = document.getElementById("banner");
    const size = getComputedStyle(banner.querySelector(".clock")).fontSize;
    return [getComputedStyle(banner).backgroundColor, size];
}"""


def banner_is(person: Person, phase: str, seconds: float = PATIENCE) -> None:
    """See the banner reach a phase."""
    banner = person.page.locator("#banner")
    expect(banner).to_have_attribute("data-phase", phase, timeout=seconds * 1000)


def knows_the_time(person: Person) -> Person:
    """Wait until the page has measured how far its clock is from the ledger's.

    Move the page's clock only after that: a later measurement would undo the move.
    """
    expect(person.page.locator("#banner [data-offset]:not([data-unknown])")).to_be_attached()
    return person


def test_the_lobby_becomes_the_picker_and_leaves_what_i_type_alone(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada").enter(term)
    banner_is(ada, "before")
    expect(ada.page.locator("#banner .clock")).to_contain_text("9:")
    offset = ada.page.locator("[data-offset]")
    expect(offset).to_contain_text("Your clock")
    # It is a sentence after a sentence, without a dot between them.
    assert offset.evaluate("it => getComputedStyle(it, '::before').content") == "none"
    search = ada.page.get_by_label("Search")
    search.press_sequentially("Course CS")
    row = f"#section-{section.id}"
    place = places(ada.page, row)
    builders.open_soon(term, window)
    banner_is(ada, "open")
    expect(search).to_be_focused()
    expect(search).to_have_value("Course CS")
    assert places(ada.page, row) == place
    ada.pick(section)
    ada.has(section, "selected")


def test_a_lobby_that_opens_for_days_is_calm_as_after_a_reload(
    meet: Meet, term: Term, section: Section
) -> None:
    window = builders.a_coming_window(term)
    ada = meet("ada").enter(term)
    banner_is(ada, "before")
    place = places(ada.page, "#banner", f"#section-{section.id}")
    builders.open_soon(term, window, lasts=3000)
    banner_is(ada, "open")
    looks = [ada.page.evaluate(LOOK)]
    expect(ada.page.locator("#banner")).to_contain_text("Open until")  # from the portal
    looks.append(ada.page.evaluate(LOOK))
    assert places(ada.page, "#banner", f"#section-{section.id}") == place
    ada.page.reload()
    assert [ada.page.evaluate(LOOK)] * 2 == looks


def test_a_sleeping_page_wakes_up_in_the_right_phase(
    meet: Meet, term: Term, section: Section
) -> None:
    builders.a_coming_window(term, minutes=60)
    ada = meet("ada")
    ada.page.clock.install()
    knows_the_time(ada.enter(term))
    # The computer sleeps for half an hour; then its clock is ahead of ours by as much.
    ada.page.clock.set_system_time(datetime.now().astimezone() + timedelta(minutes=30))
    ada.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    ada.page.clock.run_for(3000)
    expect(ada.page.locator("[data-offset]")).to_have_text("Your clock is 30 min fast")
    assert section.id


def test_the_countdown_survives_a_refresh(meet: Meet, term: Term, section: Section) -> None:
    builders.a_coming_window(term, minutes=60)
    ada = meet("ada").enter(term)
    clock = ada.page.locator("#banner .clock")
    expect(clock).to_contain_text("59:")
    ada.page.reload()
    expect(clock).to_contain_text("59:")
    expect(ada.row(section)).to_be_visible()


def test_the_window_closes_before_my_eyes_and_my_selections_stay(
    meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    builders.an_open_window(term, minutes=15 * SECONDS)
    claim(cast.ada, section)
    ada = meet("ada").enter(term)
    banner_is(ada, "open")
    banner_is(ada, "ended")
    expect(ada.row(section)).to_be_hidden()
    expect(ada.mine).to_contain_text(section.title)


def test_an_admin_schedules_and_cancels_while_a_student_watches(
    meet: Meet, term: Term, section: Section
) -> None:
    ada, boss = meet("ada").enter(term), meet("max")
    banner_is(ada, "unscheduled")
    assert section.id

    boss.go(f"/admin/terms/{term.id}/windows/new")
    boss.page.get_by_label("Name").fill("Everyone")
    when(boss, "Begins", days=1)
    when(boss, "Ends", days=2)
    boss.page.get_by_role("button", name="Review").click()
    boss.page.get_by_role("button", name="Schedule window").click()
    banner_is(ada, "before")
    clock = ada.page.locator("#banner .clock")
    expect(clock).to_contain_text("23:")

    change(boss, term, "Cancel")
    boss.dialog.get_by_label("Reason").fill("Too early")
    boss.dialog.locator("button[type=submit]").click()
    banner_is(ada, "unscheduled")


def when(person: Person, label: str, days: int) -> None:
    """Fill in a time that is so many days from now."""
    at = datetime.fromtimestamp(time.time() + days * 86_400, builders.backend().settings.zone)
    person.page.get_by_label(label).fill(f"{at:%Y-%m-%dT%H:%M}")


def change(admin: Person, term: Term, action: str) -> None:
    """Open the dialog that asks about a change of the term's only window."""
    panel = admin.page.locator(f"section[aria-labelledby=term-{term.id}]")
    panel.get_by_role("link", name=action).click()
    expect(admin.dialog).to_be_visible()
