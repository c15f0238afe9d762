"""An admin runs windows while students have their pages open."""

import re

from playwright.sync_api import Locator, expect

from e2e.person import Meet, Person
from e2e.portal import Running
from e2e.test_lobby import banner_is
from portal.catalog.local_time import LocalClock
from portal.catalog.models import Course, Section, Term
from tests import cast as builders
from tests.cast import Cast
from tests.ledger_claims import claim

HOUR = 60 * 60_000


def panel(admin: Person, term: Term) -> Locator:
    """The term's part of the page of the windows."""
    return admin.page.locator(f"section[aria-labelledby=term-{term.id}]")


def confirmed(admin: Person, reason: str) -> None:
    """Give a reason in the dialog, and press its button."""
    admin.dialog.get_by_label("Reason").fill(reason)
    admin.dialog.get_by_role("button").and_(admin.page.locator("[type=submit]")).click()
    expect(admin.dialog).to_be_hidden()


def test_a_moved_window_is_followed_by_the_countdown_on_screen(
    meet: Meet, term: Term, section: Section, portal: Running
) -> None:
    window = builders.a_coming_window(term, minutes=30)
    boss, ada = meet("max"), meet("ada").enter(term)
    clock = ada.page.locator("#banner .clock")
    expect(clock).to_contain_text(re.compile(r"^\s*(29|30):"))
    boss.go("/admin")
    panel(boss, term).get_by_role("link", name="Move").click()
    face = LocalClock(portal.backend.settings.zone)
    for label, moment in (("Begins", window.opens), ("Ends", window.closes)):
        later = face.field(moment // 60_000 * 60_000 + 5 * HOUR)
        boss.dialog.get_by_label(label, exact=True).fill(later)
    boss.dialog.get_by_role("button", name="Review").click()
    expect(boss.dialog).to_contain_text("then “Opens in 5 hours”")
    expect(boss.dialog).to_contain_text("In the waiting room: 1. They keep their positions.")
    confirmed(boss, "The hall is flooded")
    expect(panel(boss, term).locator(".badge")).to_have_text("Opens in 5 hours")
    expect(clock).to_contain_text(re.compile(r"5\D+\d\d\D"))
    assert section.id


def test_the_page_follows_how_ready_a_term_is(meet: Meet, term: Term, course: Course) -> None:
    builders.a_section(course, term)
    boss = meet("max")
    boss.go("/admin")
    window = builders.a_coming_window(term, minutes=10)
    ready = boss.page.locator(f"#ready-{term.id}")
    told = re.compile(r"Ready for opening since[\s\S]*1 section is loaded\.\s+[12] web process")
    expect(ready).to_contain_text(told, timeout=60_000)
    expect(boss.page.locator(f"#window-{window.id}")).to_be_visible()
    builders.a_section(course, term)
    expect(ready).to_contain_text("all 2 sections", timeout=60_000)


def test_windows_of_two_cohorts_run_at_once_and_end_apart(
    meet: Meet, term: Term, section: Section, cast: Cast
) -> None:
    hers = builders.an_open_window(term, cohort={"students": [cast.ada.number]})
    his = builders.an_open_window(term, cohort={"students": [cast.ben.number]})
    boss, ada, ben = meet("max"), meet("ada").enter(term), meet("ben").enter(term)
    boss.go("/admin")
    ada.pick(section)
    figures = boss.page.locator(f"#figures-{hers.id}")
    expect(figures).to_contain_text(re.compile(r"Enrollments\s*1"), timeout=60_000)
    expect(boss.page.locator(f"#figures-{his.id}")).to_contain_text(re.compile(r"Enrollments\s*0"))
    boss.page.locator(f"#window-{hers.id}").get_by_role("link", name="Close now").click()
    expect(boss.dialog).to_contain_text("This affects 1 student.")
    confirmed(boss, "She has all she needs")
    banner_is(ada, "ended")
    expect(ada.page.locator("#results")).to_contain_text("sections are no longer shown")
    expect(ada.page.get_by_label("Search")).to_be_hidden()
    expect(ada.page.get_by_role("button", name="Compact")).to_be_hidden()
    banner_is(ben, "open")
    ben.pick(section)
    ben.has(section, "selected")
    over = boss.page.locator(f"#over-{term.id}")
    over.locator("summary").click()
    over.get_by_role("link", name="Report").click()
    boss.asks_until(boss.page.get_by_role("heading", name="Refusals by reason"), seconds=60)
    expect(boss.page.locator(".dials")).to_contain_text(re.compile(r"Enrollments\s*1"))
    boss.page.get_by_role("link", name="Fairness").click()
    expect(boss.page.get_by_role("heading", name="By arrival time")).to_be_visible()


def test_the_report_of_a_window_is_short_until_its_lists_are_opened(
    meet: Meet, portal: Running, term: Term, last_seat: Section, cast: Cast
) -> None:
    window = builders.an_open_window(term)
    claim(cast.ada, last_seat)
    claim(cast.ben, last_seat)
    portal.backend.ledger.close_window(term.id, window.id, "tests")
    boss = meet("max")
    boss.go(f"/admin/terms/{term.id}/windows/{window.id}/report")
    boss.asks_until(boss.page.get_by_role("heading", name="On waitlists"), seconds=60)
    waits = boss.page.get_by_role("rowheader", name="Ben")
    expect(waits).to_be_hidden()
    boss.page.get_by_text("1 waitlist position").click()
    expect(waits).to_be_visible()
    boss.page.get_by_role("link", name="Fairness").click()
    expect(boss.page.get_by_text("Hidden (small groups): Freshman")).to_be_visible()
